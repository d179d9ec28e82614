"""How to read the trees of a learner: a file for each that is made of trees, by its name."""
