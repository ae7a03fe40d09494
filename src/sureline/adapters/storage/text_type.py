"""Text that is compared byte by byte in every database, as SQLite does by itself.

PostgreSQL compares by the collation of the database, which may be any language's.
"""

from __future__ import annotations

from sqlalchemy import Text

TEXT = Text().with_variant(Text(collation="C"), "postgresql")
