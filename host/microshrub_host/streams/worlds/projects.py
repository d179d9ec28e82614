"""The projects of the examples: a microshrub.toml in each example's folder."""

from __future__ import annotations

from pathlib import Path

from ...base.errors import UserError
from ...base.text import did_you_mean


def projects() -> dict[str, Path]:
    """Return the files, by the names of the examples."""
    here = Path(__file__).resolve()
    installed = here.with_name("projects")  # in a wheel; the repository has examples/
    if installed.is_dir():
        return {path.stem: path for path in sorted(installed.glob("*.toml"))}
    folder = here.parents[4] / "examples"
    return {path.parent.name: path for path in sorted(folder.glob("*/microshrub.toml"))}


def project_text(name: str) -> str:
    """Return the text of an example's file. Raises UserError if there is none."""
    known = projects()
    if name not in known:
        raise UserError(f"the example {name!r} is unknown. {did_you_mean(name, known)}")
    return known[name].read_text(encoding="utf-8")
