"""What a HouseLoad shows: rows for the terminal, and the page "Ten thousand boards"."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from microshrub_host.render.markdown import markdown_table

from ..board.parcel_store import MOST_BOARDS, MOST_BYTES, TOPIC
from .board_programs import DAY
from .example_parcels import EXAMPLE
from .local_broker import version
from .measured import GROUP, Carried, HouseLoad

Row = tuple[str, str]
MANY = 10_000  # boards that the page tells of


def day_rows(load: HouseLoad) -> list[Row]:
    """What a board sends and receives in a day, and what it sends first."""
    lived, begun = load.lived, load.begun
    return [
        ("states", f"{_daily(load, lived.states):,.0f}"),
        ("events", f"{_daily(load, lived.events):,.0f}"),
        ("pings and acknowledgements", f"{_daily(load, _rest(load)):,.0f}"),
        ("bytes that it sends", f"{_daily(load, lived.sent):,.0f}"),
        ("bytes that it receives", f"{_daily(load, lived.received):,.0f}"),
        ("bytes that it sends first, when a line opens", f"{begun.begun / begun.begins:,.0f}"),
    ]


def broker_rows(load: HouseLoad) -> list[Row]:
    """The broker's memory, and what it had of parcels."""
    boards = load.fleet.boards
    rows = [
        ("memory before the first board, MB", _megabytes(load.empty)),
        (f"with {boards:,} boards, MB", _megabytes(load.open_)),
        ("in the end, MB", _megabytes(load.flood.memory)),
    ]
    if load.empty is not None and load.open_ is not None:
        rows.append(("a board's share, KB", f"{(load.open_ - load.empty) / boards / 1024:.1f}"))
    return rows


def parcel_rows(load: HouseLoad) -> list[Row]:
    """What parcels take at the broker."""
    one = sum(load.parcels.values())
    return [
        *((f"the parcel of {name}, bytes", f"{size:,}") for name, size in load.parcels.items()),
        ("retained after each was published twice, bytes", f"{load.kept:,}"),
        (f"of {MOST_BOARDS} boards, the most that a group has, bytes", f"{one * MOST_BOARDS:,}"),
    ]


CARRIED_HEAD = (
    "", "published", "lost", "messages a second", "delay, median, ms", "99th percentile, ms",
    "processor time a message, us",
)  # fmt: skip


def carried_rows(load: HouseLoad) -> list[tuple[str, ...]]:
    """What the broker carried at the boards' pace, and without a pause."""
    pace = f"boards, {load.speed} times as fast" if load.speed > 1 else "boards"
    return [_carried(pace, load.carried), _carried("states without a pause", load.flood)]


def _carried(name: str, found: Carried) -> tuple[str, ...]:
    middle, late = _delay(found, 50), _delay(found, 99)
    processor = _processor(found)
    told = "-" if processor is None else f"{processor * 1e6:.0f}"
    return (
        name, f"{found.published:,}", f"{found.lost:,}", f"{found.rate:,.0f}", middle, late, told
    )  # fmt: skip


def _delay(found: Carried, percent: int) -> str:
    if not len(found.delays):
        return "-"
    return f"{np.percentile(found.delays, percent) / 1000:.1f}"


def _processor(found: Carried) -> float | None:
    """Seconds that the broker's processor took for a message."""
    return found.processor / found.came if found.processor and found.came else None


def _daily(load: HouseLoad, count: int) -> float:
    """Of a board in a day."""
    return count * DAY / (60 * load.minutes) / load.fleet.boards


def _rest(load: HouseLoad) -> int:
    """Packets that carry no message."""
    return load.lived.packets - load.lived.states - load.lived.events


def _megabytes(size: int | None) -> str:
    return "-" if size is None else f"{size / (1 << 20):.1f}"


def page(load: HouseLoad, command: str) -> str:
    """The page in Markdown."""
    boards, classes = load.fleet.boards, len(load.parcels)
    told = _daily(load, load.lived.states + load.lived.events)
    return (
        Path(__file__)
        .with_name("page.md")
        .read_text(encoding="utf-8")
        .format(
            command=command,
            boards=f"{boards:,}",
            many=f"{MANY:,}",
            version=version(),
            minutes=load.minutes,
            speed=load.speed,
            changes=load.fleet.changes,
            day=markdown_table(("a board and day", "count"), day_rows(load)),
            messages=f"{MANY * told / 1e6:,.1f}",
            a_second=f"{MANY * told / DAY:,.0f}",
            megabytes=f"{MANY * _daily(load, load.lived.sent) / 1e6:,.0f}",
            carried=markdown_table(CARRIED_HEAD, carried_rows(load)),
            memory=markdown_table(("mosquitto", "memory"), broker_rows(load)),
            parcels=markdown_table(("parcels", "size"), parcel_rows(load)),
            example=EXAMPLE,
            classes=classes,
            topic=TOPIC,
            group=GROUP,
            name=list(load.parcels)[-1],
            most_boards=MOST_BOARDS,
            most_bytes=f"{MOST_BYTES:,}",
            flood=f"{load.flood.rate:,.0f}",
            times=f"{load.flood.rate / (MANY * told / DAY):,.0f}",
            margin=_margin(load),
        )
    )


def _margin(load: HouseLoad) -> str:
    processor = _processor(load.carried)
    if processor is None:
        return ""
    told = _daily(load, load.lived.states + load.lived.events)
    share = 100 * MANY * told / DAY * processor
    return f" At the boards' pace, {MANY:,} boards take {share:.1f} % of one core of this PC."
