"""For a MicroPython with microshrub inside: make -C ports/PORT FROZEN_MANIFEST=this file."""

package("microshrub", base_path="firmware")  # noqa: F821  (MicroPython's build has it)
