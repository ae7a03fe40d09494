"""The reference page of the policy says what the schema says, about every key."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic_core import PydanticUndefined

from sureline.adapters.policies.action_settings import ActionClassSettings
from sureline.adapters.policies.group_settings import GroupSettings
from sureline.adapters.policies.inbound_settings import InboundSettings
from sureline.adapters.policies.mission_settings import MissionKindSettings
from sureline.adapters.policies.model_settings import DeductionsFile
from sureline.adapters.policies.notification_settings import NotificationSettings
from sureline.adapters.policies.setting import Settings, expected_of, settings_in
from sureline.adapters.policies.settings import SliceSettings

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "policy.md"
SECTIONS: dict[str, type[Settings]] = {
    "": SliceSettings,
    "action_classes.NAME": ActionClassSettings,
    "notifications": NotificationSettings,
    "inbound[]": InboundSettings,
    "groups.NAME": GroupSettings,
    "missions.NAME": MissionKindSettings,
    "deductions file": DeductionsFile,
}


def rows(model: type[Settings], prefix: str = "") -> list[str]:
    """Return the page's table row of every key of a mapping and of the mappings in it."""
    found = []
    for name, field in model.model_fields.items():
        inner = settings_in(field.annotation)
        is_list = str(field.annotation).startswith(("list", "typing.Annotated[list"))
        path = f"{prefix}{name}"
        found.append(f"| `{path}` | {expected_of(field)} | {default_of(field.default)} | ")
        found[-1] += f"{field.description} |"
        if inner is not None:
            found += rows(inner, f"{path}[]." if is_list else f"{path}.")
    return found


def default_of(default: object) -> str:
    if default is PydanticUndefined:
        return "required"
    if isinstance(default, Settings) or default in ([], {}):
        return "nothing set" if default in ([], {}) else "see below"
    if isinstance(default, bool):
        return "`true`" if default else "`false`"
    return "none" if default is None else f"`{default}`"


@pytest.mark.parametrize("model", SECTIONS.values(), ids=lambda model: model.__name__)
def test_every_key_is_documented(model: type[Settings]) -> None:
    """Each key stands in the page with what it expects, its default and its meaning."""
    page = PAGE.read_text(encoding="utf-8")
    missing = [row for row in rows(model) if row not in page]
    assert not missing, "\n".join(missing)


def test_the_page_documents_no_key_that_does_not_exist() -> None:
    """A row of the page that the schema does not have is out of date."""
    known = {row for model in SECTIONS.values() for row in rows(model)}
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    strange = [line for line in lines if line.startswith("| `") and line not in known]
    assert not strange, "\n".join(strange)
