"""The content of a policy that counts: defaults resolved, files inlined, in one byte form."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from sureline.adapters.policies.action_settings import ActionClassSettings
from sureline.adapters.policies.check_settings import DEFAULT_PENALTIES
from sureline.adapters.policies.consistency import is_objective_only, target_of, weights_of
from sureline.adapters.policies.group_settings import GroupSettings
from sureline.adapters.policies.inbound_settings import InboundSettings
from sureline.adapters.policies.mission_settings import MissionKindSettings
from sureline.adapters.policies.notification_settings import NotificationSettings
from sureline.adapters.policies.settings import SliceSettings
from sureline.core.canonical import canonical_json
from sureline.core.opinions import evaluation_prompt, generation_prompt, judge_prompt

VERSION = 1

MEASUREMENT_KEYS = (
    "consistency",
    "fatal_cap",
    "generator",
    "grounding",
    "history",
    "judge",
    "output",
    "prose",
    "reading",
    "redact",
    "rules",
    "self_evaluation",
    "verification",
    "weights",
)
"""What a score, and so a certificate, depends on; thresholds, modes and rates do not count."""

PROMPTS = {
    "consistency": generation_prompt.TEMPLATE_HASH,
    "judge": judge_prompt.TEMPLATE_HASH,
    "self_evaluation": evaluation_prompt.TEMPLATE_HASH,
}
"""What our own words ask of a model, by role: other words give other scores."""

WITHOUT_EFFECT = frozenset({"allow_same_model", "must_pass_canaries"})
"""Settings of a second model that change no score."""

UNSAID = ("redact", "retention")
"""Left out where nothing is set: a policy that does not use them keeps the hash that it had."""


def canonical_content(
    slices: Mapping[str, SliceSettings],
    classes: Mapping[str, ActionClassSettings],
    notifications: NotificationSettings | None = None,
    inbound: Sequence[InboundSettings] = (),
    groups: Mapping[str, GroupSettings] | None = None,
    missions: Mapping[str, MissionKindSettings] | None = None,
) -> dict[str, Any]:
    """Return the policy as JSON values: what is hashed, stored, shown and compared.

    It is itself a policy in the file's own keys, needing no other file.
    """
    content: dict[str, Any] = {
        "version": VERSION,
        "action_classes": {
            name: {
                "stakes": one.stakes,
                "human": "always" if one.always_human else "by_confidence",
                **({"approvals": one.approvals} if one.approvals > 1 else {}),
            }
            for name, one in sorted(classes.items())
        },
        "slices": {key: _slice_content(one) for key, one in sorted(slices.items())},
    }
    if notifications is not None:
        content["notifications"] = notifications.model_dump()
    if inbound:
        content["inbound"] = [one.model_dump() for one in inbound]
    if groups:
        content["groups"] = {name: one.model_dump() for name, one in sorted(groups.items())}
    if missions:
        content["missions"] = {name: one.model_dump() for name, one in sorted(missions.items())}
    return content


def content_hash(text: bytes) -> str:
    """Return the SHA-256 of canonical bytes, in hexadecimal."""
    return hashlib.sha256(text).hexdigest()


def measurement_hash(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what one slice's scores depend on."""
    measured = {key: content[key] for key in MEASUREMENT_KEYS if key in content}
    for role, prompt in PROMPTS.items():
        if measured.get(role) is not None:
            kept = {k: v for k, v in measured[role].items() if k not in WITHOUT_EFFECT}
            measured[role] = kept | {"prompt": prompt}
    return content_hash(canonical_json(measured))


def _slice_content(settings: SliceSettings) -> dict[str, Any]:
    content = settings.model_dump(exclude={"preset", "target_from_cost"})
    for name in UNSAID:
        if content[name] == SliceSettings.model_fields[name].default.model_dump():
            del content[name]
    content["weights"] = weights_of(settings)
    content["objective_only"] = is_objective_only(settings)
    content["target_precision"] = target_of(settings)
    for rule, dumped in zip(settings.rules, content["rules"], strict=True):
        if rule.penalty is None:
            dumped["penalty"] = 0.0 if rule.fatal else DEFAULT_PENALTIES[rule.condition]
    return content
