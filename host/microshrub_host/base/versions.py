"""The versions of what a result depends on."""

from __future__ import annotations

import importlib.metadata
import platform


def versions() -> dict[str, str]:
    """Of what the result depends on."""
    found = {name: version_of(name) for name in ("microshrub", "llvmlite", "numpy")}
    return found | {"python": platform.python_version()}


def version_of(distribution: str) -> str:
    """The version of an installed distribution, or that it is unknown."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
