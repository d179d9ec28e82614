"""What the status on the link says of an application: its words, as in docs/reference/link.md."""

import gc

from micropython import const

_MOST = const(536870911)  # of a word
_COUNTING = const(12000)  # microseconds without a reading that it takes to count the heap


def mem_free(app):
    """Count what is free; it takes 8 ms on a Pico, and so would what is in use."""
    app.rest = gc.mem_free()
    app.room = app.room or app.rest + gc.mem_alloc()


def status(app, words):
    """Fill the words. What is free is as counted before if the next reading is too near."""
    if not app.room or not app.pace or app.pace.wait() > _COUNTING:
        mem_free(app)
    words[6] = app.room - app.rest
    words[7] = min(app.rest, _MOST)
    app._note(words)
    words[10] = min(app.seconds, _MOST)
    words[12] = min(app.store.number, _MOST) if app.store else 0
    words[14] = app.pace.missed if app.pace else 0
    words[15] = app.sleep.seconds if app.sleep else 0


def told(app, words):
    """Fill those that tell how well it learns classes."""
    metrics = app.metrics
    words[0] = min(metrics.samples, _MOST)
    words[1] = min(metrics.right, _MOST)
    words[2] = metrics.accuracy
    words[3] = metrics.accuracy_nochange
    words[4] = max(metrics.kappa, -_MOST)
    words[5] = max(metrics.kappa_temporal, -_MOST)
    words[8] = words[9] = 0
    if app.alarm:
        words[8] = app._levels.index(app.alarm.level)
        words[9] = min(app.alarm.drifts, _MOST)
    words[11] = app.pending.waiting
