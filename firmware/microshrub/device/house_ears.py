"""What is said to a board in a house, and what it does then: imported for it, and given back."""

from micropython import const

_HOLD = const(600000)  # milliseconds for which a label of the broker holds
_ROOM = const(112)  # bytes of an answer
_UNKNOWN = "don't know"


def hear(house, topic, text, is_whole):
    """Do what a message at a topic behind the house's asks for; returns what became of it."""
    try:
        if not is_whole:
            raise ValueError("what was sent is too long")
        words = _do(house, topic, str(text, "utf-8"))
    except ValueError as error:
        words = str(error) or "what was sent is no text"
    data = words.encode()
    n = min(len(data), _ROOM)
    while 0 < n < len(data) and data[n] & 0xC0 == 0x80:  # not half a letter
        n -= 1
    return data[:n]


def _do(house, what, text):
    if what == b"label/set":
        house.label_now = _class(house, text) if text else -1
        house.hold = _HOLD
        house.voice.due = True
        return "samples are labelled %s" % text if text else "samples are not labelled"
    if what == b"answer/set":
        return _answer(house, text[:8], text[9:])
    if what == b"name/set":
        return _name(house, text)
    if what == b"normal/set" and house.app.anomaly:
        from .scores import this_is_normal

        return this_is_normal(house.app)
    raise ValueError("nothing is known of " + str(what, "utf-8"))


def _class(house, text):
    """The class of that name, which a sample can have. Raises ValueError."""
    names, wanted = house.names, text.encode()
    for c in range(len(names.sizes)):
        start, size = names.starts[c], names.sizes[c]
        if size and bytes(names.texts[start : start + size]) == wanted and names.is_said(c):
            return c
    raise ValueError("no class is called %s" % text)


def _answer(house, stamp, text):
    """Learn the sample that a stamp stands for, unless that is too long ago."""
    try:
        epoch, number = int(stamp[:4], 16), int(stamp[4:], 16)
    except ValueError:
        raise ValueError("nothing is asked now, or an answer has no id of its sample") from None
    if epoch != house.epoch_of(number) or number not in house.app.pending:
        raise ValueError("too late: the sample is not kept any more, or was answered")
    if text == _UNKNOWN:
        if house.questions and number == house.questions.newest:
            house.questions._show(0)
        return "nothing was learned"
    house.app.label(number, _class(house, text))
    return "learned: " + text


def _name(house, text):
    spare = house.names.spare and house.app.spare
    if not spare or not spare.newcomers.waiting:
        raise ValueError("nothing new waits for a name")
    if house.app.saving:
        house.app.saving.settle()
    c = spare.name(text)
    house.app.keep(house.app)
    house.voice.introduce()
    return "class %d is called %s" % (c, text)
