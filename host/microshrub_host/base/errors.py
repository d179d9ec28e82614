"""The one base of the errors that a user can do something about."""


class UserError(Exception):
    """The message is for people; the command line prints it and exits with 2."""
