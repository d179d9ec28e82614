"""Texts of errors that a program has in a file, and not in RAM: see `build`."""


def error_text(at, values=0):
    """Return the text at a byte of errors.txt; `values` is how many values go after its %.

    If the file cannot be read, the text is the number of the byte.
    """
    try:
        with open(__file__[:-12] + "errors.txt") as file:  # this is in __init__.mpy
            file.seek(at)
            return file.readline()[:-1]
    except (OSError, MemoryError):
        return "error %d of errors.txt" % at + " %r" * values
