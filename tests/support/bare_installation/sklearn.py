"""Hides scikit-learn from the commands that tests start, as if it were not installed.

The import of scikit-learn takes four times as long as the rest of `simulate`, for one line of
its output.
"""

raise ImportError("these commands are tried without scikit-learn")
