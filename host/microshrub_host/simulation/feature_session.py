"""Makes samples of readings on MicroPython, for the comparison in parity.py.

Its arguments are the library's folder, a JSON file with the options, a file with the readings and
a file for the samples, both of i32 values.
"""

import json
import sys
from array import array

MYPY = False  # MicroPython has no typing; mypy takes this for true
if MYPY:
    from typing import Any


def main(library: str, plan: str, readings: str, samples: str) -> None:
    """Take all readings, and write each completed sample."""
    sys.path.insert(0, library)
    from microshrub.device import feature_extractor as module

    extractor_class: Any = module.FeatureExtractor
    with open(plan, encoding="utf-8") as file:
        data = json.load(file)
    extractor = extractor_class(data["channels"], **data["options"])
    row = array("i", [0] * extractor.channels)
    values = array("i", [0] * extractor.features)
    with open(readings, "rb") as source, open(samples, "wb") as target:
        while source.readinto(row):
            if extractor.take(row, values):
                target.write(values)


if __name__ == "__main__":
    main(*sys.argv[1:5])
