"""Makes the parts of a program that use a network: Wi-Fi, MQTT, the link over TCP, datagrams.

secrets.json, in the folder of config.json, may have "wifi", [network, password]; "mqtt", [user,
password]; and two keys of 32 bytes, in 64 digits: "key" for the link over TCP, and "group" for
datagrams.
"""

import json
import os
from binascii import unhexlify

from micropython import const

from .networking import Wifi

_TRIAL = const(300)  # seconds for a PC to come to a program that it has sent


def attach(service, board, folder):
    """Attach MQTT, the link over TCP or datagrams to a service; returns those that are companions,
    in their order. Raises ValueError.
    """
    configuration = service._app.configuration
    companions = []
    secrets = read_secrets(folder)
    wifi = Wifi(board, secrets.get("wifi"))
    if "mqtt" in configuration.network:
        from .mqtt_start import make_mqtt

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
