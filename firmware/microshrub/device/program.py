"""The board's program: it makes what config.json names, and serves it until it is stopped.

main.py calls main(). Errors are reported in one line. Large modules are imported late, where a
lack of memory can still be reported.
"""

import gc

import micropython

# Bytes between two collections during the start, so that temporary objects do not spread over the
# heap, and a large buffer still finds a free block; afterwards there are no collections
_COLLECT = (8192, 2048)  # the second, which takes long, where memory was lacking with the first


def main(board=None, folder=""):
    """Serve until Ctrl-C, the end of the input, or a fatal error; print the reason.

    board is a Hardware, see hardware.py; folder is what the files' names begin with. A Ctrl-C
    during the start stops the program before it makes anything, so a board whose program hangs or
    resets it can still be reached.

    A configuration that came over the link is on trial at first, see Service: if it cannot be
    served, an error is reported and the board returns to the previous configuration.
    """
    micropython.kbd_intr(-1)  # a frame may hold Ctrl-C
    trial = False
    again = True
    while again:
        again, trial = _run(board, folder, trial)
    micropython.kbd_intr(3)


def _run(board, folder, trial):
    """Serve one configuration; returns whether to serve another one, and whether on trial."""
    for collect in _COLLECT:
        gc.collect()
        if hasattr(gc, "threshold"):
            gc.threshold(collect)
        try:
            return _serve(board, folder, trial)
        except MemoryError:
            pass
    gc.collect()
    return _cannot(_what_is_too_large(folder, trial), trial)


def _serve(board, folder, trial):
    service = None
    try:
        from .hardware import Hardware, Input
        from .service import Service

        board = board or Hardware()
        inputs = Input(board.milliseconds)
        inputs.skip()
        service = Service(board, folder, inputs, say, trial)
        return service.serve()
    except KeyboardInterrupt:
        _stop("Ctrl-C", service)
    except EOFError as reason:
        _stop(reason.args[0] if reason.args else "", service)
        if len(reason.args) > 1:
            from .network_update import renew

            feed = service._watchdog.feed if service and service._watchdog else None
            service = None
            renew(feed, *reason.args[1:])
    except MemoryError:
        raise
    except SystemExit:
        _stop("soft reset", service)
        raise
    except ValueError as error:
        return _cannot("%s%s" % (error, _end(service)), trial)
    except Exception as error:
        return _cannot("%s: %s%s" % (type(error).__name__, error, _end(service)), trial)
    return False, False


def say(words):
    """Print a line for people."""
    print("microshrub:", words)


def _cannot(words, trial):
    """Report why a configuration cannot be served; returns what to serve next, as _run() does."""
    if trial:
        words = "the new configuration cannot be used, and the old one goes on: %s" % words
    say(words)
    return trial, False


def _stop(reason, service):
    say("stopped: %s%s" % (reason, _end(service)))


def _end(service):
    return service.end() if service else ""


def _what_is_too_large(folder, trial):
    """Return which part does not fit, with figures if there is RAM to compute them."""
    words, what = "the program does not fit", "model"
    try:
        from ..learners import learner_class
        from .config import read_configuration

        config = read_configuration(folder, trial)
        model = learner_class(config.learner).nbytes(**config.parameters)
        waits = 0
        if config.regression is None:
            from ..delayed_labels import Pending

            waits = Pending.nbytes(config.features, config.pending)
        words = "the model: %s takes %d bytes, and does not fit beside the rest" % (
            config.learner, model,
        )  # fmt: skip
        if waits > model:
            words = "the samples that wait for a label take %d bytes, and do not fit" % waits
            what = "pending"
    except MemoryError:
        pass
    except ValueError as error:
        return str(error)
    gc.collect()
    try:
        return "%s: %d bytes were free for all. Build it with a smaller %s." % (
            words, gc.mem_free(), what,
        )  # fmt: skip
    except MemoryError:
        return "the program does not fit. Build it with a smaller model."
