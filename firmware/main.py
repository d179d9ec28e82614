from microshrub.device.program import main

main()
