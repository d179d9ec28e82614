"""`python -m microshrub_command` is the command `microshrub`, without imports from this folder."""

from __future__ import annotations

import sys

from . import main

if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    del sys.path[0]  # the working folder, where -m looks first
sys.exit(main())
