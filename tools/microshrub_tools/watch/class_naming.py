"""Names for the classes of a device while it learns, and the commands that a person types."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from microshrub_host.base.errors import UserError
from microshrub_host.base.text import count, did_you_mean

from ..link import class_messages
from ..link.class_messages import NAMED, ClassState
from ..link.client import HostLink
from ..link.link_errors import LinkError, RefusedError, RestartedError
from ..link.messages import classes, late_label

HELP = "name NAME, rename OLD NEW, merge NAME INTO, forget NAME, or dismiss"
_WORDS = {"name": 1, "rename": 2, "merge": 2, "forget": 1, "dismiss": 0}  # words after each
_ENTER, _RUBOUT, _ESCAPE = "\r\n", "\x7f\b", "\x1b\x15"


class Classes:
    """The classes of a device; `message` is the device's last answer, for people."""

    def __init__(self, link: HostLink, number: int) -> None:
        self._link = link
        self.all: tuple[ClassState, ...] = tuple(self._ask(c) for c in range(number))
        self.message = ""

    @property
    def now(self) -> ClassState:
        """The last state received, of any class."""
        return self._now

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all classes; a merged class has the name of the class it was merged into.

        A class without a name is called `spare 2`, by its place from 1 on.
        """
        return tuple(
            self.all[state.stands_for].name or f"spare {c + 1}" for c, state in enumerate(self.all)
        )

    @property
    def shown(self) -> tuple[int, ...]:
        """The numbers of classes with a name of their own."""
        return tuple(state.number for state in self.all if state.state == NAMED)

    def refresh(self) -> None:
        """Read the count of novel samples; read all names, if one has changed."""
        before = self._now.changes
        if self._ask(0).changes != before:
            self.all = tuple(self._ask(c) for c in range(len(self.all)))

    def fold(self, rows: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        """Reduce a confusion matrix of all classes to the shown ones; add up merged classes."""
        result = {label: dict.fromkeys(self.shown, 0) for label in self.shown}
        for label, row in enumerate(rows):
            for predicted, number in enumerate(row):
                into, out = (self.all[k].stands_for for k in (label, predicted))
                if into in result and out in result:
                    result[into][out] += number
        return [tuple(row.values()) for row in result.values()]

    def do(self, line: str) -> None:
        """Carry out a command, and put the result into `message`. Raises LinkError.

        The first letter of a command is enough, and names with spaces are quoted.
        """
        try:
            words = shlex.split(line)
            self.message = self._do(words) if words else ""
        except RefusedError as error:
            self.message = str(error)
        except RestartedError:
            self.message = "The device was reset: type it again"  # the watch connects again
        except LinkError:
            raise
        except (UserError, ValueError) as error:
            self.message = str(error)

    def _do(self, words: list[str]) -> str:
        command = next((name for name in _WORDS if name.startswith(words[0])), "")
        if not command:
            raise UserError(f"{words[0]!r} is unknown. {did_you_mean(words[0], _WORDS)}")
        rest = words[1:]
        if command == "name":
            rest = [" ".join(rest)] * bool(rest)
        if len(rest) != _WORDS[command]:
            raise UserError(f"The commands are: {HELP}")
        message: str = getattr(self, f"_{command}")(*rest)
        self.all = tuple(self._ask(c) for c in range(len(self.all)))
        return message

    def label(self, sample_id: int, name: str) -> None:
        """Send the class, by name, of a sample that waits for a label. Raises LinkError."""
        self._link.ask(late_label(sample_id, self.names.index(name)))

    def _name(self, text: str) -> str:
        novel = count(self._ask(0).novel, "sample")
        known = text in self.names
        self._request(class_messages.name(text))
        return f"{text} is {'what it was' if known else 'a class now'}: {novel} are learned as it"

    def _rename(self, old: str, new: str) -> str:
        return f"{old} is {self._request(class_messages.rename(self._number(old), new)).name} now"

    def _merge(self, name: str, into: str) -> str:
        self._request(class_messages.merge(self._number(name), self._number(into)))
        return f"{name} is {into} from now on"

    def _forget(self, name: str) -> str:
        self._request(class_messages.forget(self._number(name)))
        return f"{name} is forgotten"

    def _dismiss(self) -> str:
        self._request(class_messages.dismiss())
        return "The novel samples are dropped"

    def _number(self, name: str) -> int:
        """Return the class of that name. Raises UserError if no class has the name."""
        for state in self.all:
            if state.name == name:
                return state.number
        known = [state.name for state in self.all if state.name]
        raise UserError(f"No class is called {name!r}. {did_you_mean(name, known)}")

    def _ask(self, number: int) -> ClassState:
        return self._request(class_messages.tell(number))

    def _request(self, payload: bytes) -> ClassState:
        answer = self._link.ask(classes(payload))
        assert isinstance(answer, ClassState)
        self._now = answer
        return answer


class CommandLine:
    """A line that a person types, key by key; `text` is the line so far."""

    def __init__(self) -> None:
        self.text = ""
        self._shown = ""

    def changed(self) -> bool:
        """Return whether the line has changed since the last call."""
        before, self._shown = self._shown, self.text
        return before != self.text

    def press(self, keys: str) -> list[str]:
        """Take keys; return the lines that were completed."""
        lines = []
        for key in keys:
            if key in _ENTER:
                lines.append(self.text)
                self.text = ""
            elif key in _RUBOUT:
                self.text = self.text[:-1]
            elif key in _ESCAPE:
                self.text = ""
            elif key.isprintable():
                self.text += key
        return lines
