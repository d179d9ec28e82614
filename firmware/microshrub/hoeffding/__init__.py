"""Hoeffding trees: a pool of nodes, what leaves count, when they split, how they change."""
