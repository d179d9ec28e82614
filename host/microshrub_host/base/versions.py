"""The versions of what a result depends on."""

from __future__ import annotations

import platform


def versions() -> dict[str, str]:
    """Of what the result depends on."""
    found = {name: version_of(name) for name in ("microshrub", "llvmlite", "numpy")}
    return found | {"python": platform.python_version()}


def version_of(distribution: str) -> str:
    """The version of an installed distribution, or that it is unknown."""
    from importlib import metadata  # it takes a while, and is seldom asked

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"
