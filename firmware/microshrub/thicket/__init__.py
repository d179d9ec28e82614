"""Thicket, an ensemble of different learners, and its members, which share a ring of samples."""
