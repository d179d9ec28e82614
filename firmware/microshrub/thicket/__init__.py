"""Thicket: members that see the world in different ways, most of them on one ring of samples."""
