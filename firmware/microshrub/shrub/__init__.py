"""Shrub Ensembles: small trees grown on a sliding window, and their weights."""
