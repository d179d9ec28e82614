"""The program of a board: link, sensors, configuration, checkpoints, self-test."""
