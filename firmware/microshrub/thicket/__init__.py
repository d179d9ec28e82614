"""Thicket: an ensemble of different learners, and these, most of them on one ring of samples."""
