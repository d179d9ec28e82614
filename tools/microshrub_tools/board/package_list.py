"""package.json: what `mpremote mip install` copies to a board, without microshrub on the PC.

`python -m microshrub_tools.board.package_list` writes it. Addresses in it are relative, so that it
works from wherever the repository lies.
"""

from __future__ import annotations

import json
import sys

from microshrub_host.engines import loader

_INDENT = 2


def package_list() -> str:
    """The text of package.json."""
    version = loader.load("python").__version__
    names = [path.relative_to(loader.folder()).as_posix() for path in loader.sources()]
    urls = [[f"microshrub/{name}", f"firmware/microshrub/{name}"] for name in names]
    return json.dumps({"urls": urls, "deps": [], "version": version}, indent=_INDENT) + "\n"


def main() -> int:
    """Write it to where the device library's folder lies in."""
    path = loader.folder().parents[1] / "package.json"
    path.write_text(package_list(), encoding="utf-8")
    print(f"written to {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
