"""The errors that a user can do something about."""

from __future__ import annotations


class UserError(Exception):
    """The message is for people; the command line prints it and exits with 2."""


class DataError(UserError):
    """What is wrong with a source and what to do about it, in words for the user."""


class AdapterError(UserError, ValueError):
    """What is wrong with a sample or a parameter of an adapter, in words for the user."""
