"""The versions that affect a result."""

from __future__ import annotations

import platform


def versions() -> dict[str, str]:
    """Return the versions that affect a result, by name."""
    result = {name: version_of(name) for name in ("microshrub", "llvmlite", "numpy")}
    return result | {"python": platform.python_version()}


def version_of(distribution: str) -> str:
    """Return the version of an installed distribution, or "unknown"."""
    from importlib import metadata  # a slow import, seldom needed

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"
