"""Readers of the trees of a learner: a file for each learner made of trees, with its name."""
