"""Learners that predict numbers."""
