"""The instructions of one function in LLVM's language, one after the other."""

from __future__ import annotations


class Instructions:
    """Each value that is computed gets a name, %tN; each place that is jumped to a label, lN.

    lines    the instructions
    places   the types of places in memory that are no variable's; that of number i is %mi
    reached  whether an instruction that is put now can be reached
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: list[str] = []
        self.reached = True
        self._count = 0  # of the names and labels until now

    def put(self, instruction: str) -> None:
        """Put one that gives no value."""
        if not self.reached:
            self.at(self.label())
        self.lines.append("    " + instruction)

    def leave(self, instruction: str) -> None:
        """Put one after which the next is not reached."""
        self.put(instruction)
        self.reached = False

    def new(self, instruction: str) -> str:
        """Put one that gives a value; returns its name."""
        self._count += 1
        name = f"%t{self._count}"
        self.put(f"{name} = {instruction}")
        return name

    def label(self) -> str:
        """A label that is nowhere yet."""
        self._count += 1
        return f"l{self._count}"

    def at(self, label: str) -> None:
        """What follows stands at that label."""
        if self.reached:
            self.lines.append(f"    br label %{label}")
        self.lines.append(f"{label}:")
        self.reached = True

    def place(self, kind: str) -> str:
        """A place in memory for something of that type."""
        self.places.append(kind)
        return f"%m{len(self.places) - 1}"
