"""`make attack`: all attacks with one seed, and a table of their tries and results.

    python tests/attack.py --seed 1 [--quick] [--jobs 2]

Each row of the table has the command that repeats its attack, and is printed when the attack has
ended. The attacks share the cores, the longest one first. One more than the number of cores runs
at a time, as many of them wait for a board or a server. Exits with 1 if an attack succeeded.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

LIMIT = 600.0  # seconds; an attack ends earlier, even on a busy machine
ROOT = Path(__file__).parents[1]
CLI = "microshrub"
TESTS = (
    'pytest -q -p no:cacheprovider -m "not long" '
    "--hypothesis-profile large --hypothesis-seed {seed}"
)


@dataclass(frozen=True)
class Attack:
    """An attack, the expected result, and the command; `quick` is a small part of it, or empty.

    `needs` is a folder, made by `make web`, without which the attack is left out.
    """

    name: str
    held: str
    command: str
    quick: str = ""
    needs: str = ""
    first: bool = False  # starts before the others, as it takes as long as all of them


ATTACKS = (
    Attack(
        "altered saved states with a right checksum, kernels in C",
        "refused, or used without a crash",
        f"{CLI} dev fuzz-states --engine c --states 20000 --seed {{seed}}",
        f"{CLI} dev fuzz-states --engine python --states 300 --seed {{seed}}",
    ),
    Attack(
        "the same, in Python",
        "refused, or used without an exception",
        f"{CLI} dev fuzz-states --engine python --states 2000 --seed {{seed}}",
    ),
    Attack(
        "the same, on a 32-bit MicroPython",
        "refused, or used without a crash",
        f"{CLI} dev fuzz-states --engine micropython --states 2000 --seed {{seed}}",
    ),
    Attack(
        "the same, in a native module",
        "refused, or used without a crash",
        f"{CLI} dev fuzz-states --engine native --states 2000 --seed {{seed}}",
    ),
    Attack(
        "bytes on the link flipped, lost, repeated, cut; cables pulled; resets",
        "each request applied once and in order",
        f"{CLI} dev fuzz-link --frames 100000 --seed {{seed}}",
        f"{CLI} dev fuzz-link --frames 2000 --seed {{seed}}",
    ),
    Attack(
        "the same, with the page's end of the link",
        "each request applied once and in order",
        "python tests/support/page_link_fuzz.py --frames 20000 --seed {seed}",
        needs="tools/web/node_modules",
    ),
    Attack(
        "power cuts and full disks while a checkpoint is saved; every bit flipped",
        "the last checkpoint or the one before is restored",
        f"{TESTS} tests/firmware/test_checkpoint.py "
        "tests/firmware/device/test_checkpoint_device.py",
    ),
    Attack(
        "power cuts at each operation of the flash and at random times, while a board is taught "
        "by a button, a key, the page, the link and MQTT, after 1, 5 and 60 labels, and by "
        "packets of other boards, after 1 to 60 samples",
        "at most 5 seconds of labels are lost, or 60 where labels go on",
        f"{TESTS} tests/firmware/device/test_power_cuts.py",
    ),
    Attack(
        "power cuts after each step of `flash`, a full flash",
        "the board starts its old program or the new one",
        f"{TESTS} tests/tools/board/test_flash.py",
    ),
    Attack(
        "names in the flash's root that look like a program's; other main.py's",
        "the program starts, `flash` replaces it, and all else stays as it was",
        f"{TESTS} tests/tools/board/test_flash_names.py",
    ),
    Attack(
        "damaged states that config.json names, at a start and for a reset",
        "all parts begin fresh, or the reset is refused with nothing forgotten",
        f"{TESTS} tests/tools/program/test_states.py",
    ),
    Attack(
        "labels, resets and late labels while a board with a sensor saves a checkpoint",
        "readings go on, no label is lost, and the checkpoint is that of when it began",
        f"{TESTS} tests/tools/program/test_saving.py",
    ),
    Attack(
        "a PC that talks while the board starts; programs that hang; impossible configurations",
        "the program starts, or can be reached; the old configuration goes on",
        f"{TESTS} tests/tools/program/test_start_and_stop.py "
        "tests/tools/program/test_configure.py",
    ),
    Attack(
        "a year at a sample a minute: late labels, drift, power cuts, full disks",
        "after each sample the simulator's state, after each restart the one that was saved",
        f"{CLI} dev simulate-year --seed {{seed}}",
        f"{CLI} dev simulate-year --days 3 --seed {{seed}}",
    ),
    Attack(
        "a day at 200 samples a minute, with the same",
        "the same",
        f"{CLI} dev simulate-year --days 1 --rate 200 --seed {{seed}}",
        first=True,
    ),
    Attack(
        "hostile data files and model files",
        "an error in one line, and no file changed",
        f"{TESTS} tests/host/streams/test_bad_files.py tests/host/streams/test_what_it_is.py "
        "tests/host/models/test_model_files.py tests/host/models/test_forged_names.py",
    ),
    Attack(
        "pipes, lines that end in all ways, files that change while they are read",
        "what was read is what was there, or a refusal",
        f"{TESTS} tests/host/streams/test_whole_files.py",
    ),
    Attack(
        "packets of samples with altered bytes, forged lengths and a right checksum",
        "refused, or only read; nothing is learned",
        "python tests/support/packet_attack.py --packets 100000 --seed {seed}",
    ),
    Attack(
        "forged, cut, oversized and moved packets that a broker has kept for a group of boards",
        "each is refused in a line, and whole ones beside them are taken",
        "python tests/support/share_attack.py --messages 20000 --seed {seed}",
    ),
    Attack(
        "messages that a board of such a group takes by itself: forged, altered, cut, of another "
        "unit; its power cut meanwhile",
        "what is refused changes no bit, and what is learned spoils nothing of the board's own",
        "python tests/support/sharing_attack.py --messages 20000 --seed {seed}",
        "python tests/support/sharing_attack.py --messages 1000 --seed {seed}",
    ),
    Attack(
        "datagrams that a board hears of others: forged, altered, cut, repeated, with parts "
        "missing; its power cut meanwhile",
        "what the group's key has not signed changes no bit; old datagrams spoil nothing",
        "python tests/support/datagram_attack.py --datagrams 100000 --seed {seed}",
        "python tests/support/datagram_attack.py --datagrams 2000 --seed {seed}",
    ),
    Attack(
        "a broker that sends forged lengths, packets that cannot be and random bytes",
        "the board goes on, and learns nothing of it",
        "python tests/support/hostile_broker.py --packets 100000 --seed {seed}",
        "python tests/support/hostile_broker.py --packets 1000 --seed {seed}",
    ),
    Attack(
        "a broker that harms the PC: topics nobody asked for, messages without end, silence",
        "each command ends with an error in one line, in bounded time and memory",
        "python tests/support/hostile_to_pc.py --lines 200 --seed {seed}",
        "python tests/support/hostile_to_pc.py --lines 10 --seed {seed}",
    ),
    Attack(
        "forged, replayed and random records in a board's network; crowds without a key",
        "each line is ended; nothing reaches the link; sensors go on; a PC with the key comes in",
        "python tests/support/network_attack.py --frames 20000 --seed {seed}",
        "python tests/support/network_attack.py --frames 1000 --seed {seed}",
    ),
    Attack(
        "a PC that reads nothing while it brings a new program; boards that print without end",
        "the board starts again after a minute; `flash` ends with an error in one line",
        f"{TESTS} tests/tools/program/test_network_update.py "
        "tests/tools/board/test_stubborn_board.py",
    ),
    Attack(
        "files beside the data that are named like Python's and MicroPython's modules",
        "no command imports one, in whatever process it starts",
        f"{TESTS} tests/host/base/test_working_folder.py",
    ),
    Attack(
        "boards that say what cannot be; escapes for the terminal in names",
        "shown without harm, or an error in one line",
        f"{TESTS} tests/tools/watch/test_hostile_boards.py",
    ),
    Attack(
        "half, malformed, aborted and too many requests to `web` and `bridge`",
        "they go on, and Ctrl-C ends them",
        f"{TESTS} tests/tools/web/test_hostile_visitors.py tests/tools/web/test_host_header.py",
    ),
    Attack(
        "compiled code in the cache, cut, altered, or of others; odd compilers",
        "made again, or refused; no crash",
        f"{TESTS} tests/host/library/test_hostile_cache.py tests/host/library/test_code_cache.py",
    ),
    Attack(
        "files as people have them, on the command line and in the page",
        "both read them to the same bits, or refuse them in the same words",
        f"{TESTS} tests/tools/web/test_streams_in_the_page.py",
        needs="tools/web/node_modules",
    ),
    Attack(
        "closed pipes, full disks, links in a circle",
        "an error in one line, and the exit code of it",
        f"{TESTS} tests/host/cli/test_command_line_failures.py tests/host/cli/test_outputs.py "
        "tests/host/cli/test_its_end.py tests/host/cli/test_symlink_loop.py",
    ),
    Attack(
        "early Ctrl-C; no home, odd locales and names",
        "the same",
        f"{TESTS} tests/host/cli/test_early_ctrl_c.py tests/host/cli/test_odd_environments.py",
    ),
    Attack(
        "workers and the program that waits for them killed; Ctrl-C while they start",
        "no task lost, no process left",
        f"{TESTS} tests/host/base/test_workers.py",
    ),
    Attack(
        "counters and numbers at their ends",
        "no overflow, on every engine",
        f"{TESTS} tests/firmware/test_boundaries.py tests/firmware/test_metrics.py "
        "tests/firmware/test_fixed.py",
    ),
)
_TRIES = re.compile(r"([\d,]+) (?:altered states|altered packets|requests applied|samples|passed)")


def run(command: str, limit: float) -> tuple[str, str, float]:
    """Return an error, "" if there is none; the number of tries; and the seconds."""
    words = shlex.split(command)
    modules = {"microshrub": ["-m", "microshrub_tools.cli.main"], "pytest": ["-m", "pytest"]}
    began = time.monotonic()
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, *modules.get(words[0], []), *words[1:]],
        cwd=ROOT, stdout=pipe, stderr=pipe, text=True, start_new_session=True,
    ) as child:  # fmt: skip
        wrong = ""
        try:
            output, complaints = child.communicate(timeout=limit)
        except BaseException as error:
            os.killpg(child.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            output, complaints = child.communicate()
            wrong = f"it did not end within {limit:.0f} seconds"
    tries = _TRIES.findall(output)
    if child.returncode:
        wrong = wrong or "it did not hold"
        print(output[-4000:], complaints[-4000:], sep="\n", file=sys.stderr)
    return wrong, tries[0] if tries else "?", time.monotonic() - began


def line(attack: Attack, command: str, limit: float) -> tuple[bool, str]:
    """Run an attack; return whether it was withstood, and its row of the table."""
    if not (ROOT / attack.needs).exists():
        return True, f"| {attack.name} | 0 | left out: `make web` first | 0 | `{command}` |"
    wrong, tries, seconds = run(command, limit)
    held = f"**{wrong}**" if wrong else attack.held
    return not wrong, f"| {attack.name} | {tries} | {held} | {seconds:.0f} | `{command}` |"


def main() -> int:
    """Run the attacks and print the table, a row as soon as its attack has ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a small part, in seconds")
    parser.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) + 1, help="at a time")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for an attack")
    arguments = parser.parse_args()
    chosen = [(a, a.quick if arguments.quick else a.command) for a in ATTACKS]
    chosen = [(a, command.format(seed=arguments.seed)) for a, command in chosen if command]
    print(
        "| attack | tries | what held | seconds | command |\n|---|---:|---|---:|---|", flush=True
    )
    began = time.monotonic()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        order = sorted(chosen, key=lambda pair: not pair[0].first)
        running = [pool.submit(line, *pair, arguments.limit) for pair in order]
        failed = 0
        for done in as_completed(running):
            withstood, text = done.result()
            failed += not withstood
            print(text, flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} held; {time.monotonic() - began:.0f} seconds")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
