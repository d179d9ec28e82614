"""For a MicroPython with microshrub inside: make -C ports/PORT FROZEN_MANIFEST=this file."""

import sys

# The code of a Cortex-M0's functions has to be at multiples of four; mpy-tool does not see to that
if any("armv6m" in word for word in sys.argv):
    raise ValueError("for a Cortex-M0, use the manifest.py that `microshrub build --freeze` makes")
package("microshrub")  # MicroPython's build has it
