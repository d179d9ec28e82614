"""The names of classes as a board in a house tells them: bytes, and texts of JSON."""

from array import array

_ESCAPED = b'"\\'


class HouseNames:
    """Those of an application: of its configuration, or of its spare classes, as they change.

    longest: bytes of the longest one. Allocates nothing but for find().
    """

    def __init__(self, app):
        self._spare = None
        if app.configuration.spare is not None:
            self._spare = names = app.spare.names
            _, _, _, self._sizes, self._texts = names._flat
            self._starts = array("H", [names.room * c for c in range(app.classes)])
            self.longest = names.room
            return
        data = [name.encode() for name in app.configuration.class_names]
        self._texts = b"".join(data)
        self._sizes = array("H", [len(each) for each in data])
        self._starts = array("H", [0] * len(data))
        for c in range(1, len(data)):
            self._starts[c] = self._starts[c - 1] + self._sizes[c - 1]
        self.longest = max(self._sizes)

    @property
    def changes(self):
        """What changes when a class gets a name, or another one."""
        return self._spare.changes if self._spare else 0

    def is_said(self, c):
        """Whether a class has a name."""
        return not self._spare or self._spare.state(self._spare.stands_for(c)) == 1

    def find(self, name):
        """The class of that name, bytes; -1 if there is none."""
        for c in range(len(self._sizes)):
            start = self._starts[c]
            if self._sizes[c] and bytes(self._texts[start : start + self._sizes[c]]) == name:
                return c
        return -1

    def put(self, out, c):
        """Put the name of a class as it stands in a text of JSON; nothing for -1."""
        if c < 0:
            return
        texts = self._texts
        done = self._starts[c]
        end = done + self._sizes[c]
        for k in range(done, end):
            if texts[k] in _ESCAPED:
                out.put(texts, done, k - done)
                out.put(b"\\")
                done = k
        out.put(texts, done, end - done)

    def list_size(self):
        """Bytes of all of them as texts of JSON with a comma before each."""
        size = 0
        for c in range(len(self._sizes)):
            if self._sizes[c]:
                size += 3 + self._sizes[c]
                for k in range(self._starts[c], self._starts[c] + self._sizes[c]):
                    size += int(self._texts[k] in _ESCAPED)
        return size

    def put_next(self, out, c):
        """Put the first one of class c or later, as in that list; returns what is next.

        Behind the last one, spaces fill what is left: a name may have become shorter meanwhile.
        """
        while c < len(self._sizes) and not self._sizes[c]:
            c += 1
        if c == len(self._sizes):
            while out.room:
                out.put(b" ")
            return c
        out.put(b',"')
        self.put(out, c)
        out.put(b'"')
        return c + 1
