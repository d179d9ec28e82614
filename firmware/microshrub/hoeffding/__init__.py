"""Hoeffding trees: a pool of nodes, the leaves' statistics, splits, and responses to change."""
