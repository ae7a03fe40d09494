"""Settings of one slice that contradict each other, or that their author may not have meant."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from sureline.adapters.policies.action_settings import ActionClassSettings
from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.independence import check_independence
from sureline.adapters.policies.named_models import check_named_models
from sureline.adapters.policies.redacted_checks import check_redaction
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node
from sureline.core.statistics.binomial import labels_needed
from sureline.core.values.policy import PRESETS

SAID_BY_MODELS = frozenset(
    {"self_report", "self_evaluation", "judge", "consistency", "token_probability"}
)
SLICE_ACCURACY = "slice_accuracy"
BUILT_IN = frozenset({"verification", "history", SLICE_ACCURACY, *SAID_BY_MODELS})
"""Signals that sureline measures itself."""
HIGH_TARGET = 0.99


def weights_of(settings: SliceSettings) -> dict[str, float]:
    """Return the weights that hold, without those of 0."""
    given = settings.weights
    chosen = PRESETS[settings.preset or "objective"] if given is None else given
    return {name: chosen[name] for name in sorted(chosen) if chosen[name] > 0}


def is_objective_only(settings: SliceSettings) -> bool:
    """Tell whether weights on what a model says are refused."""
    if settings.objective_only is not None:
        return settings.objective_only
    return settings.preset == "objective"


def target_of(settings: SliceSettings) -> float:
    """Return the target precision, derived from costs where they are given."""
    costs = settings.target_from_cost
    return settings.target_precision if costs is None else costs.target


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Checks one slice against the rest of the policy.

    `unreadable` names first-level keys that are already known to be wrong: what rests on them is
    not judged. `classes` is None where action classes could not be read.
    """

    node: Node
    settings: SliceSettings
    unreadable: AbstractSet[str]
    classes: Mapping[str, ActionClassSettings | None]
    faults: Faults

    def check(self) -> None:
        """Tell the faults and warnings of the slice."""
        if not self.unreadable & {"weights", "preset", "objective_only"}:
            self._weights()
        if "output" not in self.unreadable:
            self._output()
        if not self.unreadable & {"consistency", "generator"}:
            self._generations()
        self._stakes()
        self._retention()
        check_redaction(self.node, self.settings, self.faults)
        self._precision()
        check_independence(self.node, self.settings, self.faults)
        check_named_models(self.node, self.settings, self.faults)

    def _at(self, *steps: str) -> Node:
        return self.node.deepest(steps)[0]

    def _weights(self) -> None:
        weights = weights_of(self.settings)
        said = sorted(SAID_BY_MODELS & set(weights))
        if said and is_objective_only(self.settings):
            self.faults.add(
                self._at("weights"),
                f"the slice is objective only, so {', '.join(said)} can have no weight",
            )
        own = weights.get("self_report", 0.0)
        others = [weight for name, weight in weights.items() if name != "self_report"]
        if own and own >= max(others, default=0.0):
            self.faults.add(
                self._at("weights", "self_report"),
                "what the generator says of itself can never have the largest weight; "
                "give another signal more",
            )
        self._largest_of_its_own(weights)
        if SLICE_ACCURACY in weights and self.settings.calibration == "per_slice":
            self.faults.add(
                self._at("weights", SLICE_ACCURACY),
                "slice_accuracy together with calibration per slice counts the slice's "
                "reliability twice; write calibration: pooled or remove the weight",
            )
        self._weights_without_measurement(weights)
        self._weights_of_others(weights)

    def _largest_of_its_own(self, weights: Mapping[str, float]) -> None:
        """Warn where what comes from the generator counts most, though it is not what it says."""
        for name in ("consistency", "token_probability"):
            own = weights.get(name, 0.0)
            if own and own >= max(weights.values()):
                self.faults.warn(
                    self._at("weights", name),
                    f"{name} counts most, and it comes from the generator itself: what the "
                    "generator always gets wrong looks certain to it",
                )

    def _weights_of_others(self, weights: Mapping[str, float]) -> None:
        for name in sorted(set(weights) - BUILT_IN):
            near = difflib.get_close_matches(name, BUILT_IN, n=1, cutoff=0.8)
            meant = f'; did you mean "{near[0]}"?' if near else ""
            self.faults.warn(
                self._at("weights", name),
                "nothing built in measures this signal: a plug-in or an imported log must bring "
                f"it{meant}",
            )

    def _weights_without_measurement(self, weights: Mapping[str, float]) -> None:
        total = math.fsum(weights.values())
        if self.settings.weights is not None and not math.isclose(total, 1.0, abs_tol=1e-6):
            self.faults.warn(self._at("weights"), f"weights sum to {total:g}; divided by their sum")
        to_people = "so every output goes to a person"
        for name, measured in (
            ("judge", self.settings.judge),
            ("self_evaluation", self.settings.self_evaluation),
            ("consistency", self.settings.consistency),
        ):
            if name in weights and measured is None and name not in self.unreadable:
                self.faults.warn(
                    self._at("weights"), f"{name} has a weight but is not set up, {to_people}"
                )
        if SLICE_ACCURACY in weights and self.settings.calibration == "pooled":
            self.faults.warn(
                self._at("calibration"), f"slice_accuracy is not measured yet, {to_people}"
            )
        if "verification" in weights and not self._is_checked:
            self.faults.warn(
                self._at("weights"),
                f"verification has a weight but nothing is checked, {to_people}",
            )

    @property
    def _is_checked(self) -> bool:
        s = self.settings
        return bool(s.output.structured or s.prose or self.unreadable & {"output", "prose"})

    def _output(self) -> None:
        output = self.settings.output
        if output.structured:
            return
        for steps, is_set in (
            (("output", "json_schema"), output.json_schema is not None),
            (("output", "model"), output.model is not None),
            (("rules",), bool(self.settings.rules)),
            (("grounding",), self.settings.grounding is not None),
        ):
            if is_set:
                self.faults.add(
                    self._at(*steps),
                    "needs an output with fields, but the slice says output.structured: false",
                )

    def _generations(self) -> None:
        how = self.settings.consistency
        if how is not None and how.ask and self.settings.generator is None:
            self.faults.add(
                self._at("consistency", "ask"),
                "there is no generator to ask; name one: generator: {model: ...}",
            )

    def _stakes(self) -> None:
        settings, name = self.settings, self.settings.action_class
        if name is not None and name not in self.classes:
            known = ", ".join(sorted(self.classes)) or "none"
            self.faults.add(
                self._at("action_class"),
                f'there is no action class "{name}"; action_classes has: {known}',
            )
        action = self.classes.get(name) if name is not None else None
        stakes = [settings.stakes, *([action.stakes] if action else [])]
        hypothesis = settings.hypothesis
        if hypothesis is None:
            return
        where = self._at("hypothesis")
        if any(one != "reversible" for one in stakes) or (action and action.always_human):
            self.faults.add(
                where,
                "a hypothesis may only automate reversible actions that are not kept with "
                "people; remove it here (hypothesis: null)",
            )
        elif not hypothesis.allow_uncertified:
            self.faults.warn(where, "not used until allow_uncertified: true and starts are given")

    def _retention(self) -> None:
        days = self.settings.retention.payload_days
        if self.unreadable & {"weights", "preset"} or days is None:
            return
        if weights_of(self.settings).get("history"):
            self.faults.warn(
                self._at("retention", "payload_days"),
                f"history has a weight: what is similar is looked for among the cases of {days} "
                "days only, since vectors are erased with the payloads",
            )

    def _precision(self) -> None:
        settings = self.settings
        target = target_of(settings)
        key = "target_precision" if settings.target_from_cost is None else "target_from_cost"
        if target >= HIGH_TARGET and not self.unreadable & {key, "delta"}:
            needed = labels_needed(0, target, settings.delta)
            self.faults.warn(
                self._at(key),
                f"a target of {target:g} needs at least {needed} labels without one error "
                "before anything is automated",
            )
        if settings.mode == "route" and settings.audit_rate == 0:
            self.faults.warn(
                self._at("audit_rate"), "without an audit a loss of precision is never noticed"
            )
