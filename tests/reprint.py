"""Update the figures in README, tutorial, examples and some how-tos.

    python tests/reprint.py             # or make printed; prints the changed lines

Runs the pages' commands that need no board. A line in a `text` block that none of them prints gets
the figures of the printed line that begins with the same words. The demo's picture is written to
docs/images. tests/docs/test_commands_run.py and test_blocks.py check that pages and output agree.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("support")))

from pages_support import FIGURES, PAGES, commands, plain, saved
from tests_support import ROOT

_ALONE = ("demo", "example", "init", "show", "simulate", "build", "budget")
_PICTURE = "demo.svg"
_TEXT = re.compile(r"(?<=^```text\n)(.*?)(?=^```)", re.MULTILINE | re.DOTALL)
_WORDS = re.compile(r"\D*")  # text before the first figure
_FIGURE = re.compile(r"\d[\d.,]*")


def printed(page: Path, folder: Path) -> list[str]:
    """Return the lines that the page's commands print, without frames and with single spaces."""
    for name, program in saved(page):
        (folder / name).write_text(program)
    lines: list[str] = []
    for command in commands(page):
        if not re.match(rf"microshrub ({'|'.join(_ALONE)})\b", command):
            continue
        print(f"  {command}", flush=True)
        here = command.replace("microshrub", f"{sys.executable} -m microshrub_command", 1)
        done = subprocess.run(
            ["bash", "-c", here], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:  # such as a command that reads a board's recording
            print(f"  left out: {plain(done.stderr)}")
            continue
        lines += map(plain, (done.stdout + done.stderr).splitlines())
    return lines


def renewed(line: str, lines: list[str], before: int) -> str:
    """Return the line with the figures printed now; unchanged if it is printed, or none is
    similar.

    `before` is the number of earlier lines in its block that differ from it in figures alone.
    """
    words = _WORDS.match(plain(line))
    assert words is not None
    like = [each for each in lines if each.startswith(words[0])]
    if not like and ":" in words[0]:  # "Most confused: a and b (9" has other classes now
        like = [each for each in lines if each.startswith(words[0].partition(":")[0] + ":")]
    if not words[0].strip() or any(each.startswith(plain(line)) for each in like) or not like:
        return line
    same = [each for each in like if _shape(each) == _shape(line)]
    new = (same[before : before + 1] or same or like)[0].split()
    parts = re.split(r"(\S+)", line)  # spaces are at even places
    if len(new) != len(parts) // 2:
        return " ".join(new)
    parts[1::2] = new
    return "".join(parts)


def _shape(line: str) -> str:
    """Return the line without its figures."""
    return _FIGURE.sub("", plain(line))


def main() -> int:
    """Update the figures of the pages; return the exit code."""
    for name in [*PAGES, *FIGURES]:
        print(name)
        with tempfile.TemporaryDirectory() as folder:
            lines = printed(ROOT / name, Path(folder))
            for picture in Path(folder).glob(_PICTURE):
                shutil.copy(picture, ROOT / "docs" / "images")
        before = (ROOT / name).read_text(encoding="utf-8")
        blocks = _TEXT.split(before)  # text blocks are at odd places
        for k in range(1, len(blocks), 2):
            block = blocks[k].splitlines()
            shapes = [_shape(line) for line in block]
            new = [
                renewed(line, lines, shapes[:at].count(shapes[at]))
                for at, line in enumerate(block)
            ]
            blocks[k] = "".join(f"{line}\n" for line in new)
            for old, now in zip(block, new, strict=True):
                if old != now:
                    print(f"  {old}\n  is now\n  {now}")
        (ROOT / name).write_text("".join(blocks), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
