"""Builds the page where it is missing in a clone of the project, as `make web` does it."""

from __future__ import annotations

import shutil
import sys

from microshrub_host.base import child_process
from microshrub_host.base.errors import UserError
from microshrub_host.base.terminal import messages

from . import site


def build_if_missing() -> None:
    """Build the page if this is a clone that has none. Raises UserError."""
    root = site.FOLDER.parents[3]
    if site.is_built() or not (root / "tools" / "web" / "package.json").is_file():
        return
    missing = [name for name in ("make", "npm") if not shutil.which(name)]
    if missing:
        raise UserError(
            f"The page has not been built here. That needs {' and '.join(missing)}, which is not "
            "installed; the package has the page in it: pip install microshrub"
        )
    messages.say("The page has not been built here, so it is built now.")
    command = ["make", "--no-print-directory", "web"]
    with child_process.start(command, cwd=root, stdout=sys.stderr) as build:
        build.wait()
    if build.returncode:
        raise UserError("The page could not be built; the reason is above.")
