"""How a draft is edited on its page, and what comes back from there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sureline.core.review.edits import edited_fields
from sureline.core.values.policy import SlicePolicy
from sureline.errors import InvalidInput
from sureline.web.pages.draft import LONGEST_TEXT, DraftField, fields_of
from sureline.web.pages.shown_text import hides
from sureline.web.pages.typed import edited_output, read_json, unified

FIELDS, TEXT, JSON = "fields", "text", "json"
WHOLE = "edited"
"""The name of the one input of a draft that is edited as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Editing:
    """A draft's form: `fields` where `how` is fields, else `whole` in one input.

    `how` None says that it is too large to be edited on a page.
    """

    output: Any
    how: str | None
    fields: tuple[DraftField, ...] = ()
    whole: str = ""

    def read(self, form: Mapping[str, str]) -> Any:
        """Return the output as it was typed. Raises InvalidInput naming what was expected."""
        if self.how is None:
            raise InvalidInput("this draft is too large to be edited here", field=WHOLE)
        if self.how == FIELDS:
            return edited_output(self.output, self.fields, form)
        text = unified(form.get(WHOLE, self.whole))
        if text == unified(self.whole):
            return self.output
        return text if self.how == TEXT else read_json(text, WHOLE)

    def is_changed(self, form: Mapping[str, str]) -> bool:
        """Tell whether anything was typed, readable or not."""
        given = {one.name: one.text for one in self.fields} | {WHOLE: self.whole}
        return any(unified(form.get(name, text)) != unified(text) for name, text in given.items())


def editing_of(output: Any, policy: SlicePolicy | None, how: str | None = None) -> Editing:
    """Return how a draft is edited: as `how` says, where it can be."""
    schema = None if policy is None else policy.checks.json_schema
    fields = None if how == JSON else fields_of(output, schema)
    if fields is not None:
        return Editing(output=output, how=FIELDS, fields=fields)
    is_plain = isinstance(output, str) and not hides(output)
    whole = output if is_plain else _escaped(output)
    if len(whole) > LONGEST_TEXT:
        return Editing(output=output, how=None)
    return Editing(output=output, how=TEXT if is_plain else JSON, whole=whole)


def typed_over(output: Any, edited: Any, policy: SlicePolicy | None) -> Mapping[str, str]:
    """Return the form in which somebody types over an output so that it becomes `edited`.

    Empty where it is too large for a page.
    """
    for how in (None, JSON):
        editing = editing_of(output, policy, how)
        after = editing_of(edited, policy, how)
        form = {one.name: one.text for one in after.fields} | {WHOLE: after.whole}
        if editing.how == after.how and after.how is not None and _makes(editing, form, edited):
            return {"as": after.how, **form}
    return {}


def _makes(editing: Editing, form: Mapping[str, str], edited: Any) -> bool:
    try:
        return not edited_fields(editing.read(form), edited)
    except InvalidInput:
        return False


def _escaped(output: Any) -> str:
    """Return an output as JSON that hides nothing."""
    written = json.dumps(output, ensure_ascii=False, indent=2)
    return json.dumps(output, indent=2) if hides(written) else written
