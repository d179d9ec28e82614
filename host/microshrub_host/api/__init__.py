"""The host's functions for programs and notebooks.

`microshrub_host` exports these functions by name. Models have the same names as on the command
line: "thicket", "shrub" or "hoeffding". A learner's parameters are keyword arguments with the
learner's defaults.
"""
