"""The names of classes as a board in a house tells them: bytes, and texts of JSON."""

_ESCAPED = b'"\\'


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
        if c < 0:
            return
        done = k = self.starts[c]
        end = done + self.sizes[c]
        while k < end:
            if self.texts[k] in _ESCAPED:
                self._put(out, done, k)
                out.put(b"\\")
                done = k
            k += 1
        self._put(out, done, end)

    def _put(self, out, start, end):
        out.put(self.texts, start, end - start)
