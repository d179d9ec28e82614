"""Loads the saved states that config.json names; imported only at the start and for a reset."""

from binascii import crc32

from micropython import const

_CHUNK_BYTES = const(128)
_ABSENT = const(2)  # ENOENT
_WARMUP = const(256)  # samples, if the saved quantizer is damaged


def load(app):
    """Load the states into an application's parts; returns an error's message, or "".

    If a state is damaged, all parts are left fresh. Raises ValueError if a file is missing, and
    for any error while the configuration is on trial.
    """
    try:
        for part, name in app._states:
            if name:
                _opened(app, name, part.read)
        if app.configuration.quantizer and not app.quantizer.frozen:
            raise ValueError("%s: the quantizer is not frozen" % app.configuration.quantizer)
    except ValueError as error:
        if app.trial or isinstance(error, _MissingError):
            raise
        for part in app.parts:
            part.reset()
        app.configuration.warmup = app.configuration.warmup or _WARMUP
        return str(error)
    return ""


def check(app):
    """Raise ValueError, with nothing changed, unless the files hold the states, undamaged."""
    for part, name in app._states:
        if name:
            _opened(app, name, lambda file, part=part: _check(part, file))


class _MissingError(ValueError):
    """A file is missing; people read the message."""


def _opened(app, name, take):
    try:
        with open(app._folder + name, "rb") as file:
            take(file)
    except OSError as error:
        error_type = _MissingError if error.args[0] == _ABSENT else ValueError
        raise error_type("%s cannot be read: %s" % (name, error)) from None
    except ValueError as error:
        raise ValueError("%s: %s" % (name, error)) from None


def _check(part, file):
    """Raise ValueError unless the file has the part's head and ends in the right checksum."""
    head = part._head()
    left = part.saved_bytes() - len(head) - 4
    crc = crc32(head)
    whole = file.read(len(head)) == head
    while whole and left:
        chunk = file.read(min(left, _CHUNK_BYTES))
        crc = crc32(chunk, crc)
        left -= len(chunk)
        whole = len(chunk) > 0
    if not whole or file.read(4) != (crc & 0xFFFFFFFF).to_bytes(4, "little"):
        raise ValueError("the saved state is damaged, or is not for %s" % part.configuration())
