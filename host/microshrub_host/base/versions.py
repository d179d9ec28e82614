"""The versions that affect a result."""

from __future__ import annotations

import platform


def versions() -> dict[str, str]:
    """Versions that affect the result, by name."""
    result = {name: version_of(name) for name in ("microshrub", "llvmlite", "numpy")}
    return result | {"python": platform.python_version()}


def version_of(distribution: str) -> str:
    """The version of an installed distribution, or "unknown"."""
    from importlib import metadata  # it takes a while, and is seldom asked

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"
