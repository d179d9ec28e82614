"""Recordings of small models of the world, which the examples learn without a sensor.

They are generated with a seed, and are the same every time; none was measured.
"""
