"""What a program has in a network; imported where there is something.

secrets.json, beside config.json, may have "wifi", [network, password]; "mqtt", [user, password];
and two keys of 32 bytes, in 64 digits: "key", of the link over TCP, and "group", of packets.
"""

import json
import os
from binascii import unhexlify

from micropython import const

from .wifi import Wifi

_TRIAL = const(300)  # seconds for a PC to come to a program that it has sent


def attach(service, configuration, board, folder):
    """Have a service talk to a broker, or serve the link over TCP. Raises ValueError."""
    secrets = read_secrets(folder)
    wifi = Wifi(board, secrets.get("wifi"))
    if "mqtt" in configuration.network:
        from .house_start import make_house

        login = secrets.get("mqtt", ("", ""))
        house = make_house(service._app, board, service._button, folder, service._say, wifi, login)
        service._button = service.house = house
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
    if "packets" in configuration.network:
        _share_by_packets(service, configuration.network["packets"], board, wifi, secrets)
    configuration.network = None  # nobody needs it now


def _share_by_packets(service, options, board, wifi, secrets):
    from .parcel_packets import ParcelPackets

    if "group" not in secrets:
        raise ValueError("secrets.json has no key of the group: build and flash the board again")
    carrier = _carrier(options, board, wifi)
    service.packets = ParcelPackets(service._app, secrets["group"], carrier, service._say)


def _carrier(options, board, wifi):
    if options["by"] == "udp":
        from .packets_udp import UdpCarrier

        return UdpCarrier(wifi, options["port"], options["to"])
    from .packets_espnow import EspNowCarrier

    return EspNowCarrier(board, options["channel"])


def _is_there(path):
    try:
        os.stat(path)
    except OSError:
        return False
    return True


def read_secrets(folder):
    """What secrets.json has, the key as a bytearray. Raises ValueError, with none of it."""
    try:
        with open(folder + "secrets.json") as file:
            found = json.loads(file.read())
        right = isinstance(found, dict)
        for name in found if right else ():
            if name in ("key", "group"):
                found[name] = bytearray(unhexlify(found[name]))
                right = right and len(found[name]) == 32
            else:
                right = right and _is_pair(found[name])
    except OSError:
        return {}
    except (TypeError, ValueError):
        right = False
    if not right:
        raise ValueError("secrets.json is damaged: build and flash the board again")
    return found


def _is_pair(value):
    texts = isinstance(value, list) and all([isinstance(text, str) for text in value])
    return texts and len(value) == 2
