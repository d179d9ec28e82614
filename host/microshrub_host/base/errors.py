"""Errors that a user can do something about."""

from __future__ import annotations


class UserError(Exception):
    """An error with a message for people; the command line prints the message and exits with 2."""


class DataError(UserError):
    """A fault in a stream's source; the message tells the user what to do."""


class AdapterError(UserError, ValueError):
    """A fault in a sample or a parameter of an adapter, with a message for the user."""
