"""Where `tune` searches for a learner's parameters: a file for each learner, with its name.

FIRST                   configurations known to be good on some stream, to begin with
space(ask, features)    the parameters that a trial draws, see search_space.Ask

The parameters of a learner without a file are each drawn from the whole range.
"""
