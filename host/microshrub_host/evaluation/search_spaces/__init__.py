"""Where tune looks for a learner's parameters, in the file with its name.

    FIRST                   choices that are known to be of use on some stream, to begin with
    space(ask, features)    the parameters that a trial draws, see search_space.Ask

A learner without a file has each parameter drawn from its whole range.
"""
