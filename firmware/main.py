import micropython

micropython.kbd_intr(-1)  # what a PC sends while the program starts may hold Ctrl-C

try:
    from microshrub.device.program import main

    main()
except MemoryError:
    micropython.kbd_intr(3)
    print("microshrub: the program does not fit. Build it with a smaller model.")
