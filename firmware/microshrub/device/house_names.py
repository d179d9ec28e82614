"""The names of classes as a board in a house tells them: bytes, and texts of JSON."""


class HouseNames:
    """Class c has the name texts[starts[c] : starts[c] + sizes[c]]; spare: as names change."""

    def __init__(self, spare, texts, starts, sizes):
        self.spare = spare
        self.texts = texts
        self.starts = starts
        self.sizes = sizes

    def is_said(self, c):
        """Whether a class has a name."""
        return not self.spare or self.spare.state(self.spare.stands_for(c)) == 1

    def put(self, out, c):
        """Put the name of a class as it stands in a text of JSON; nothing for -1."""
        if c >= 0:
            out.put_text(self.texts, self.starts[c], self.sizes[c])
