"""Hides scikit-learn from the commands that tests start, as if it were not installed.

Without the import of scikit-learn, `simulate` takes a quarter of its time, for one line of output.
"""

raise ImportError("these commands are tried without scikit-learn")
