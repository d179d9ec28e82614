"""Found before scikit-learn by commands that tests start: they are as without it installed.

`simulate` runs in a quarter of the time that importing scikit-learn takes, for one line of many.
"""

raise ImportError("these commands are tried without scikit-learn")
