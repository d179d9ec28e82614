"""Carries out a message from the broker; unloaded afterwards."""

from micropython import const

_HOLD = const(600000)  # milliseconds for which a label from the broker holds
_ROOM = const(112)  # bytes of an answer
_UNKNOWN = "Don't know"
# In lower case, names that no class may have, see the host's discovery_messages.py
_RESERVED = (
    "no query", "what is it?", "don't know", "not labelled", "none", "unknown", "unavailable",
)  # fmt: skip


def hear(mqtt, topic, text, is_whole):
    """Carry out a message at one of the board's topics; returns the result for people."""
    try:
        if not is_whole:
            raise ValueError("the message is too long")
        words = _do(mqtt, topic, str(text, "utf-8"))
    except ValueError as error:
        words = str(error) or "the message is not text"
    data = words.encode()
    n = min(len(data), _ROOM)
    while 0 < n < len(data) and data[n] & 0xC0 == 0x80:  # no half of a character
        n -= 1
    return data[:n]


def _do(mqtt, what, text):
    if what == b"label/set":
        mqtt.label_now = _class(mqtt, text) if text else -1
        mqtt.hold = _HOLD
        mqtt.publisher.due = True
        return "samples are labelled %s" % text if text else "samples are not labelled"
    if what == b"answer/set":
        return _answer(mqtt, text[:8], text[9:])
    if what == b"name/set":
        return _name(mqtt, text)
    if what == b"normal/set" and mqtt.app.anomaly:
        from .watchers import this_is_normal

        return this_is_normal(mqtt.app)
    raise ValueError("there is no topic " + str(what, "utf-8"))


def _class(mqtt, text):
    """Return the class of a name. Raises ValueError if no class has it."""
    names, wanted = mqtt.names, text.encode()
    for c in range(len(names.sizes)):
        start, size = names.starts[c], names.sizes[c]
        if size and bytes(names.texts[start : start + size]) == wanted and names.has_name(c):
            return c
    raise ValueError("no class is called %s" % text)


def _answer(mqtt, stamp, text):
    """Learn the sample of a stamp, if it is still waiting. Raises ValueError."""
    try:
        epoch, number = int(stamp[:4], 16), int(stamp[4:], 16)
    except ValueError:
        raise ValueError("no label is queried now, or the answer has no id") from None
    if epoch != mqtt.epoch_of(number) or number not in mqtt.app.pending:
        raise ValueError("too late: the sample is not kept any more, or was answered")
    if text == _UNKNOWN:
        if mqtt.queries and number == mqtt.queries.newest:
            mqtt.queries._show(0)
        return "nothing was learned"
    mqtt.app.label(number, _class(mqtt, text))
    return "learned: " + text


def _name(mqtt, text):
    spare = mqtt.names.spare and mqtt.app.spare
    if not spare or not spare.novelty.waiting:
        raise ValueError("no novel class waits for a name")
    if text.lower() in _RESERVED:
        raise ValueError("no class can be called %s here" % text)
    mqtt.app.settle()
    c = spare.name(text)
    mqtt.app.taught()
    mqtt.publisher.announce()
    return "class %d is called %s" % (c, text)
