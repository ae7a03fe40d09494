"""Let `python -m sureline` do what `sureline` does."""

from __future__ import annotations

from sureline.cli import main

if __name__ == "__main__":
    main()
