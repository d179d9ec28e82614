"""The road to the board, and the command line."""
