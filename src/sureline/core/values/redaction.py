"""What of a proposal is neither kept nor shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionPolicy:
    """What is replaced before anything is stored, and what is kept from models only.

    `forms` are names of built-in forms such as `email`, `patterns` names with regular expressions
    (RE2), `fields` dotted paths into the output. `hide_from_models` are paths that people see and
    models do not.
    """

    forms: tuple[str, ...] = ()
    patterns: tuple[tuple[str, str], ...] = ()
    fields: tuple[str, ...] = ()
    hide_from_models: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Tell whether anything is replaced before it is stored."""
        return bool(self.forms or self.patterns or self.fields)
