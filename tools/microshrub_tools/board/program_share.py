"""A program that gives samples to others of its group by itself, and learns theirs: `--share`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microshrub_host.base.errors import UserError
from microshrub_host.base.settings import settings
from microshrub_host.base.text import did_you_mean

from .program_house import check_name

ALL = "all"


@dataclass(frozen=True)
class ShareSettings:
    """The group of boards to share with, at the broker of HouseSettings: `ShareSettings("rooms")`.

    group     the name of a group of boards that see the same features
    classes   the classes whose samples may leave the board: names, or "all"; by default none, and
              the board only learns from others

    Raises UserError for impossible values.
    """

    group: str
    classes: Sequence[str] | str = ()

    def __post_init__(self) -> None:
        check_name(self.group, "--share")
        if isinstance(self.classes, str) and self.classes != ALL:
            raise UserError(f"the classes to share are names in a list, or {ALL!r}")

    def config(self, name: str, classes: Sequence[str]) -> dict[str, Any]:
        """What config.json says of it, for a board of that name. Raises UserError."""
        wanted = classes if self.classes == ALL else tuple(dict.fromkeys(self.classes))
        for each in wanted:
            if each not in classes:
                raise UserError(f"--share classes={each}: {did_you_mean(each, classes)}")
        numbers = [list(classes).index(each) for each in wanted]
        return {"group": self.group, "name": name, "classes": numbers}


def of_words(given: Mapping[str, Any]) -> ShareSettings | None:
    """What words such as rooms classes=walk,run ask for; None without --share. UserError."""
    words = given.get("share")
    if not words:
        return None
    if not given.get("mqtt"):
        raise UserError("--share needs --mqtt HOST, the broker that keeps the group's parcels")
    group, *rest = words
    found = str(settings("--share", rest, {"classes": ""})["classes"])
    names = tuple(name for name in found.split(",") if name)
    return ShareSettings(group, ALL if found == ALL else names)
