"""How a house is made of its part of the configuration: imported for it, and given back."""

from array import array

from micropython import const

from .house import House
from .house_names import HouseNames
from .mqtt import MqttClient

_KEEP_ALIVE = const(60)  # seconds, as the broker is told
_ROOM = const(240)  # bytes of the largest packet, its state, without names
_TEXT = const(32)  # of the largest message to the board, likewise


def make_house(app, board, button, folder, say, wifi, login):
    """What stands between an application that serves and a broker; see House.

    folder is what names of files begin with, login of the broker's user: [name, password].
    Raises ValueError for options and files that cannot be.
    """
    options = app.configuration.network["mqtt"]
    name = options["name"]
    base = b"microshrub/" + name.encode() + b"/"
    names, longest = _names_of(app)
    hello = hello_of("microshrub-" + name, "microshrub/%s/status" % name, *login)
    ca = options.get("ca")
    where = options["host"], options["port"], folder + ca if ca else None
    room = _ROOM + len(base) + 3 * longest
    kept = len(base) + _TEXT + longest
    post = _post_of(app, say)
    if post:
        kept = max(kept, post.kept)
    client = MqttClient(where, hello, room, kept, board.milliseconds)
    house = House(
        app, button, board.milliseconds, say, wifi, names, client, base,
        folder + "house.bin", options["settle"], options["events"],
    )  # fmt: skip
    if post:
        post.attach(client, house.voice)
    return house


def _post_of(app, say):
    """What brings parcels and takes them away, if there are any."""
    if app.parcels is None or "packets" in app.configuration.network:
        return None
    from .parcel_topics import ParcelTopics

    return ParcelTopics(app, app.configuration.share["group"], say)


def _names_of(app):
    """Those of the configuration, or of spare classes; and the bytes of the longest in JSON."""
    if app.configuration.spare is not None:
        names = app.spare.names
        _, _, _, sizes, texts = names._flat
        starts = array("H", [names.room * c for c in range(app.classes)])
        return HouseNames(names, texts, starts, sizes), 2 * names.room
    data = [name.encode() for name in app.configuration.class_names]
    starts = array("H", [0] * len(data))
    for c in range(1, len(data)):
        starts[c] = starts[c - 1] + len(data[c - 1])
    sizes = array("H", [len(each) for each in data])
    return HouseNames(None, b"".join(data), starts, sizes), 2 * max(sizes)


def hello_of(name, will, user, password):
    """The body of CONNECT: bytes.

    will is the topic that says "offline", retained, once the board is gone; messages with QoS 1
    are kept for a board of this name while it is away.
    """
    flags = 0x24  # a will that is retained
    texts = [name, will, "offline"]
    for text, flag in ((user, 0x80), (password, 0x40)):
        if text:
            flags |= flag
            texts.append(text)
    said = bytearray(b"\0\4MQTT\4") + bytes((flags, 0, _KEEP_ALIVE))
    for text in texts:
        data = text.encode()
        said += bytes((len(data) >> 8, len(data) & 255)) + data
    return bytes(said)
