"""Blocks of the pages that no test runs, with the reason for each: all in one place.

test_commands_run.py runs PAGES of pages_support.py, with a virtual board; test_blocks.py runs all
others, except for these commands. A pattern that matches no command is an error there.
"""

from __future__ import annotations

SKIPPED = {
    r"\bPORT\b|/dev/tty|tcp://\d|tcp://\w+\.local": "a board at that port",
    r"^microshrub (flash|monitor|record|device)\b": "a board; README and the examples have it",
    r"^microshrub share .*--mqtt": "that broker; test_share_over_mqtt.py has one",
    r"light\.py": "a recording of that sensor; tests/tools/board/test_program_sensors.py has one",
    r"both\.csv": "a recording of those sensors",
    r"^mpremote ": "a board",
    r"^microshrub (tune|compare)\b": "minutes; tests/host/evaluation, tests/research/compare do",
    r"^dask ": "several machines; tests/host/evaluation/tuning has a cluster on one",
    r"^(make|pip|python3? -m (venv|pip)) ?": "an installation; make release tries it",
    r"^microshrub (web|bridge)\b": "serves until it is stopped; tests/tools/web has its pages",
    r"^microshrub (demo|init|run)\b": "test_demo.py and test_project_file.py run them",
    r"^microshrub costs\b": "minutes; tests/host/boards/emulation counts what it prints",
    r"^microshrub reproduce\b": "minutes; tests/research/papers runs parts of each",
    r"^microshrub micropython\b": "fetches and builds; make test does so first",
    r"^microshrub dev fuzz-link\b": "minutes; tests/tools/link runs fewer frames",
    r"page.mshrub|^microshrub simulate gestures\.mshrub": "a project that the page has saved",
}

# Blocks in other languages than the shell's
LANGUAGES = {
    "python": "run by test_own_program.py and test_python_page.py, or parts of a program",
    "c": "run by tests/host/models/export",
    "text": "what is printed",
    "toml": "tests/tools/cli reads a project's file",
    "yaml": "of Home Assistant",
    "json": "what is printed",
    "apacheconf": "tests/tools/program has a broker with these lines",
    "powershell": "another system; test_install_page.py reads it",
}

# Pages with lines that only skipped commands print
PRINTED = {
    "docs/how-to/predict-numbers.md": "monitor",
    "docs/how-to/tune.md": "tune, on a wider terminal",
    "docs/how-to/add-a-learner.md": "check-learner, of a learner with a fault",
    "docs/how-to/boards-that-share.md": "boards that exchange packets",
    "docs/reference/link.md": "fuzz-link, and the link itself",
    "docs/explanation/battery.md": "a simulated week, of minutes",
}

# Files that a page's text has its reader write before the blocks
WRITTEN = {"docs/how-to/home-assistant.md": ("broker.txt", "wifi.txt")}
