"""What holds for all tests."""

from __future__ import annotations

import os

# With it, what a command writes too late would come in time here and nowhere else.
os.environ.pop("PYTHONUNBUFFERED", None)
