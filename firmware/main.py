import micropython

micropython.kbd_intr(-1)  # what a PC sends while the program starts may hold Ctrl-C

from microshrub.device.program import main  # noqa: E402

main()
