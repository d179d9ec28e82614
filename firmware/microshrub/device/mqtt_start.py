"""Makes the MqttCompanion that the configuration describes; unloaded afterwards."""

from array import array

from micropython import const

from .mqtt_client import MqttClient
from .mqtt_companion import MqttCompanion
from .mqtt_publisher import MqttClassNames

_KEEP_ALIVE = const(60)  # seconds, in CONNECT
_ROOM = const(264)  # bytes of the largest packet, the state, without names
_TEXT = const(32)  # bytes of the largest message to the board, without names


def make_mqtt(app, board, button, folder, say, wifi, login):
    """Make the MqttCompanion of an application, and a SharingMqtt if it shares samples by MQTT.

    folder is what the files' names begin with; login is the broker's user, [name, password].
    Raises ValueError for wrong options and files.
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
    sharing = _sharing_of(app, say)
    if sharing:
        kept = max(kept, sharing.kept)
    client = MqttClient(where, hello, room, kept, board.milliseconds)
    mqtt = MqttCompanion(
        app, button, board.milliseconds, say, wifi, names, client, base,
        folder + "discovery.bin", options["settle"], options["events"],
    )  # fmt: skip
    if not sharing:
        return [mqtt]
    sharing.join(client, mqtt.publisher)
    return [mqtt, sharing]


def _sharing_of(app, say):
    """Make the transport of sample packets, or None if the board does not share by MQTT."""
    if app.sharing is None or "datagrams" in app.configuration.network:
        return None
    from .sharing_mqtt import SharingMqtt

    return SharingMqtt(app, app.configuration.share["group"], say)


def _names_of(app):
    """Return the names of the classes, and the bytes of the longest name in JSON."""
    if app.configuration.spare_classes is not None:
        names = app.spare.names
        _, _, _, sizes, texts = names._flat
        starts = array("H", [names.room * c for c in range(app.classes)])
        return MqttClassNames(names, texts, starts, sizes), 2 * names.room
    data = [name.encode() for name in app.configuration.class_names]
    starts = array("H", [0] * len(data))
    for c in range(1, len(data)):
        starts[c] = starts[c - 1] + len(data[c - 1])
    sizes = array("H", [len(each) for each in data])
    return MqttClassNames(None, b"".join(data), starts, sizes), 2 * max(sizes)


def hello_of(name, will, user, password):
    """Return the body of CONNECT, bytes.

    will is the topic where the broker publishes "offline", retained, once the board is gone.
    The broker keeps messages with QoS 1 for the board of this name while it is away.
    """
    flags = 0x24  # a will that is retained
    texts = [name, will, "offline"]
    for text, flag in ((user, 0x80), (password, 0x40)):
        if text:
            flags |= flag
            texts.append(text)
    packet = bytearray(b"\0\4MQTT\4") + bytes((flags, 0, _KEEP_ALIVE))
    for text in texts:
        data = text.encode()
        packet += bytes((len(data) >> 8, len(data) & 255)) + data
    return bytes(packet)
