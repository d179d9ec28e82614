"""The device's program: it makes what config.json names, and serves it until it is stopped.

main.py calls main(). Whatever goes wrong is said in one line. All that takes memory is imported
where a lack of it can be said.
"""

import gc

import micropython
from micropython import const

_COLLECT = const(2048)  # bytes between two collections


def main(board=None, folder=""):
    """Serve until Ctrl-C, an end of the input, or what cannot be helped, which is said.

    board is what stands for the board, see board.py; folder: what names of files begin with.
    """
    if hasattr(gc, "threshold"):  # so that what imports leave behind does not spread over the
        gc.threshold(_COLLECT)  # heap, and a large buffer still finds room in one piece
    again = True
    while again:
        gc.collect()
        again = _run(board, folder)


def _run(board, folder):
    """Serve one configuration; returns whether there is another one now."""
    service = None
    try:
        from .board import Board
        from .service import Service

        micropython.kbd_intr(-1)  # a frame may hold Ctrl-C
        service = Service(board or Board(), folder)
        service.serve()
        return True
    except KeyboardInterrupt:
        _stop("Ctrl-C", service)
    except EOFError as reason:
        _stop(reason, service)
    except MemoryError:
        _say_too_large(folder)
    except ValueError as error:
        say(error)
    except Exception as error:
        say("%s: %s" % (type(error).__name__, error))
    finally:
        micropython.kbd_intr(3)
    return False


def say(words):
    """A line for whoever looks."""
    print("microshrub:", words)


def _stop(reason, service):
    say("stopped: %s%s" % (reason, service.end() if service else ""))


def _say_too_large(folder):
    """What does not fit, with numbers as far as there is room to count them."""
    gc.collect()
    words = "the program"
    try:
        from .config import read_configuration
        from .device_model import learner_class

        configuration = read_configuration(folder + "config.json")
        need = learner_class(configuration.learner).nbytes(**configuration.parameters)
        words = "the model: %s takes %d bytes, and it" % (configuration.learner, need)
    except MemoryError:
        pass
    except ValueError as error:
        words = str(error)
    gc.collect()
    say("%s does not fit, with %d bytes free. Build a smaller model." % (words, gc.mem_free()))
