"""Text with any character in it, in columns that cannot hold U+0000.

SQLite keeps a NUL in a text as it is; an agent may send one. Here it is written as a noncharacter
and a digit. That noncharacter is itself written so, hence every text is read back as it was, and
texts are equal exactly where they were.
"""

from __future__ import annotations

import json
from typing import Any

from psycopg.adapt import AdaptersMap
from psycopg.pq import Format
from psycopg.types.string import StrDumperUnknown, TextLoader

from sureline.adapters.storage.statement import JsonList

_MARK = "\U0010ffff"
_NUL, _ITSELF = f"{_MARK}0", f"{_MARK}1"


def storable(text: str) -> str:
    """Return the text as a column can hold it."""
    if "\x00" not in text and _MARK not in text:
        return text
    return text.replace(_MARK, _ITSELF).replace("\x00", _NUL)


def as_it_was(text: str) -> str:
    """Return the text of which `storable` made this one."""
    return text if _MARK not in text else text.replace(_NUL, "\x00").replace(_ITSELF, _MARK)


class _Dumper(StrDumperUnknown):
    def dump(self, obj: str) -> Any:
        return super().dump(storable(obj))


class _ListDumper(StrDumperUnknown):
    def dump(self, obj: str) -> Any:
        assert isinstance(obj, JsonList)
        return super().dump(json.dumps([storable(text) for text in obj.texts]))


class _Loader(TextLoader):
    format = Format.TEXT

    def load(self, data: Any) -> Any:
        text = super().load(data)
        return as_it_was(text) if isinstance(text, str) else text


def keep_any_text(adapters: AdaptersMap) -> None:
    """Let a connection write and read every text."""
    adapters.register_dumper(str, _Dumper)
    adapters.register_dumper(JsonList, _ListDumper)
    for name in ("text", "varchar"):
        adapters.register_loader(name, _Loader)
