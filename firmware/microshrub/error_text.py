"""Texts of errors that a program has in a file, and not in RAM: see `build`."""


def error_text(at, values=0):
    """The text at that byte of errors.txt, which takes so many values after %.

    If the file cannot be read, the text is the number of the byte.
    """
    try:
        with open(__file__[:-12] + "errors.txt") as file:  # this is in __init__.mpy
            file.seek(at)
            return file.readline()[:-1]
    except (OSError, MemoryError):
        return "error %d of errors.txt" % at + " %r" * values
