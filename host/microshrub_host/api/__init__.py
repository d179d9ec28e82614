"""What a program or a notebook uses of the host, as plain functions.

`microshrub_host` exports them by name. Models are called as on the command line, "thicket",
"shrub" or "hoeffding"; a learner's parameters are keyword arguments, and have its defaults.
"""
