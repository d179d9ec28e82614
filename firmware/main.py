from microshrub.program import main

main()
