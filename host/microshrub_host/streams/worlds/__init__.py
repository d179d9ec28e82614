"""Recordings of small models of the world: what the examples learn where nobody has a sensor.

They are made here, with a seed, and are the same every time; none was measured.
"""
