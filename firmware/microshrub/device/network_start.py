"""Makes the parts of a program that use a network: Wi-Fi, MQTT, the link over TCP, datagrams.

secrets.json, in the folder of config.json, may have "wifi", [network, password]; "mqtt", [user,
password]; and two keys of 32 bytes, in 64 digits: "key" for the link over TCP, and "group" for
datagrams.
"""

import json
import os
from array import array
from binascii import unhexlify

from micropython import const

from .networking import Wifi

_TRIAL = const(300)  # seconds for a PC to come to a program that it has sent
_KEEP_ALIVE = const(60)  # seconds, in CONNECT
_ROOM = const(264)  # bytes of the largest packet, the state, without names
_TEXT = const(32)  # bytes of the largest message to the board, without names


def attach(service, board, folder):
    """Attach MQTT, the link over TCP or datagrams to a service; returns those that are companions,
    in their order. Raises ValueError.
    """
    configuration = service._app.configuration
    companions = []
    secrets = read_secrets(folder)
    wifi = Wifi(board, secrets.get("wifi"))
    if "mqtt" in configuration.network:
        login = secrets.get("mqtt", ("", ""))
        companions = make_mqtt(
            service._app, board, service._button, folder, service._say, wifi, login
        )
        service._button = service.mqtt = companions[0]
    if "tcp" in configuration.network:
        from .tcp import Tcp

        if "key" not in secrets:
            raise ValueError("secrets.json has no key: build and flash the board again")
        port, key = configuration.network["tcp"]["port"], secrets["key"]
        line = Tcp(
            service._link, service._input, board.milliseconds, wifi, port, key, service._say
        )
        line.trial = _TRIAL if _is_there(folder + "tried") else 0
        service._link = service._input = line
    if "datagrams" in configuration.network:
        _share_by_datagrams(service, configuration.network["datagrams"], board, wifi, secrets)
        companions.append(service.datagrams)
    configuration.network = None  # nobody needs it now
    return companions


def make_mqtt(app, board, button, folder, say, wifi, login):
    """Make the MqttCompanion of an application, and a SharingMqtt if it shares samples by MQTT.

    folder is what the files' names begin with; login is the broker's user, [name, password].
    Raises ValueError for wrong options and files.
    """
    from .mqtt_client import MqttClient
    from .mqtt_companion import MqttCompanion

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
    from .mqtt_companion import MqttClassNames

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


def _share_by_datagrams(service, options, board, wifi, secrets):
    from .sharing_datagrams import SharingDatagrams

    if "group" not in secrets:
        raise ValueError("secrets.json has no key of the group: build and flash the board again")
    carrier = _carrier(options, board, wifi)
    service.datagrams = SharingDatagrams(service._app, secrets["group"], carrier, service._say)


def _carrier(options, board, wifi):
    if options["by"] == "udp":
        from .networking import UdpCarrier

        return UdpCarrier(wifi, options["port"], options["to"])
    from .networking import EspNowCarrier

    return EspNowCarrier(board, options["channel"])


def _is_there(path):
    try:
        os.stat(path)
    except OSError:
        return False
    return True


def read_secrets(folder):
    """The contents of secrets.json, keys as bytearrays. Raises ValueError."""
    try:
        with open(folder + "secrets.json") as file:
            secrets = json.loads(file.read())
        right = isinstance(secrets, dict)
        for name in secrets if right else ():
            if name in ("key", "group"):
                secrets[name] = bytearray(unhexlify(secrets[name]))
                right = right and len(secrets[name]) == 32
            else:
                right = right and _is_pair(secrets[name])
    except OSError:
        return {}
    except (TypeError, ValueError):
        right = False
    if not right:
        raise ValueError("secrets.json is damaged: build and flash the board again")
    return secrets


def _is_pair(value):
    texts = isinstance(value, list) and all([isinstance(text, str) for text in value])
    return texts and len(value) == 2
