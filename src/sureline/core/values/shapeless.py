"""Letters and marks without any shape: fillers, joiners, variation selectors."""

from __future__ import annotations

SHAPELESS = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0x180B, 0x1810))
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0100, 0xE01F0))
)
"""Their code points; what Unicode calls format or control characters is beside them."""
