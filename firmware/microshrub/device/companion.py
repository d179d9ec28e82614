"""A companion, and the points at which an application calls it.

companions.py makes the companions of a configuration, in the order in which they are called. A
program with a single companion does not need this module.

An application calls these methods of a companion that has them:

    look(predicted, label)      a sample was predicted, and is not learned yet; label is -1 if it
                                is not known
    note(x, label)              a sample was predicted, and learned if label >= 0, or an earlier
                                sample was learned whose label came late
    show(predicted, label)      the prediction is final, whether or not the sample was learned
    plot(plotter, label)        a line for the plotter is made: put() adds values to it
    late(predicted, label)      the label of the earlier sample in pending.x has come, and the
                                learner's votes are for that sample
    count(label, predicted)     a label was learned
    turn(milliseconds, passed)  a turn of the program's loop: the time, 0..2**30 - 1, and the
                                time since the last turn; returns a message for people, or None

None of them may allocate, and only turn() returns anything. If a companion answers requests of the
link, its function is in the application's `more`. The service calls these, if there are any:

    attach(board, button, sensor)  take the board's pins; returns the button that gives labels, or
                                   None
    end()                          switch everything off: the program ends
"""


def both(first, second):
    """Return a function that calls both; its result is the first message that is not None."""

    def call(x, y):
        message = first(x, y)
        later = second(x, y)
        return message or later

    return call
