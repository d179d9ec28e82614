"""Commands refuse a hostile broker's messages with one line, soon, and with little memory."""

from __future__ import annotations

import random
from pathlib import Path

import hostile_to_pc as hostile
import pytest

from microshrub_tools.link.broker import matches

# Tricks that take less than a second on a connection
TRICKS = (
    (hostile.odd_topics, hostile.SUBSCRIBE),
    (hostile.odd_topics, hostile.PING),
    (hostile.odd_names, hostile.SUBSCRIBE),
    (hostile.endless_messages, hostile.SUBSCRIBE),
)


@pytest.fixture(scope="module")
def there() -> hostile.HostileBroker:
    return hostile.HostileBroker(random.Random(1))


@pytest.mark.parametrize(("trick", "at"), TRICKS)
def test_every_command_withstands_a_hostile_broker(
    trick: hostile.Trick, at: int, there: hostile.HostileBroker, tmp_path: Path
) -> None:
    there.trick, there.at = trick, (at,)
    for words in hostile.commands(tmp_path, there.port):
        assert not hostile.withstands(words), words


def test_sixty_six_thousand_topics_are_too_many(
    there: hostile.HostileBroker, tmp_path: Path
) -> None:
    there.trick, there.at = hostile.many_topics, (hostile.SUBSCRIBE,)
    forget = hostile.commands(tmp_path, there.port)[1]
    assert not hostile.withstands(forget)


@pytest.mark.parametrize(
    ("wanted", "topic", "does"),
    [
        ("a/b", "a/b", True),
        ("a/+/c", "a/b/c", True),
        ("a/+/c", "a//c", True),
        ("a/#", "a/b/c", True),
        ("#", "a/b", True),
        ("a/+", "a/b/c", False),
        ("a/+/c", "a/b", False),
        ("a/#", "b/a", False),
        ("a/+", "a/+", False),
        ("a/#", "a/\0", False),
    ],
)
def test_subscribed_topics(wanted: str, topic: str, does: bool) -> None:
    assert matches(wanted, topic) == does
