"""What the adapters raise."""

from __future__ import annotations

from ..base.errors import UserError


class AdapterError(UserError, ValueError):
    """What is wrong with a sample or a parameter, in words for the user."""
