"""The projects of the examples: a microshrub.toml each, which its folder in examples/ has."""

from __future__ import annotations

from pathlib import Path

from ...base.errors import UserError
from ...base.text import did_you_mean


def projects() -> dict[str, Path]:
    """The files, by the names of the examples."""
    here = Path(__file__).resolve()
    installed = here.with_name("projects")  # made by the wheel; in the repository: examples/
    if installed.is_dir():
        return {path.stem: path for path in sorted(installed.glob("*.toml"))}
    folder = here.parents[4] / "examples"
    return {path.parent.name: path for path in sorted(folder.glob("*/microshrub.toml"))}


def project_text(name: str) -> str:
    """The file of that example. Raises UserError if there is none."""
    known = projects()
    if name not in known:
        raise UserError(f"the example {name!r} is unknown. {did_you_mean(name, known)}")
    return known[name].read_text(encoding="utf-8")
