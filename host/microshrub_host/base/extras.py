"""The packages that not everybody needs, and how to install them."""

from __future__ import annotations

_EXTRAS = {
    "river": "river",
    "scipy": "river",
    "pyarrow": "speed",
    "llvmlite": "speed",
    "distributed": "tune",
    "optuna": "tune",
    "onnx": "export",
    "elftools": "native",
    "websockets": "web",
    "sklearn": "bench",
    "torch": "bench",
    "capymoa": "moa",
}


def missing(module: str) -> str | None:
    """What to say where a module is missing; None if it is none of an extra."""
    package = module.partition(".")[0]
    extra = _EXTRAS.get(package)
    return extra and f"this needs the package {package}: pip install 'microshrub[{extra}]'"
