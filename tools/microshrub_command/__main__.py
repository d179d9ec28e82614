"""`python -m microshrub_command` is the command `microshrub`."""

from __future__ import annotations

import sys

from . import main

sys.exit(main())
