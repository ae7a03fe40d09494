"""What the demonstration came to: figures only, printing is elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sureline.core.values.certificate import Certificate, Uncertified
from sureline.core.values.decision import Reason, Route
from sureline.demo.ranking import auroc

Verdicts = Mapping[str, Certificate | Uncertified]
"""Each slice's certificate, or why it has none."""
Progress = Callable[[str, int, int], None]
"""Told the stage, how many items it has done, and how many it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """One item after the gate: its route and score, and whether its output was really right."""

    id: str
    slice_key: str
    route: Route
    score: float | None
    reasons: tuple[Reason, ...]
    correct: bool
    wrong: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResult:
    """The main job from end to end.

    `logged` were decided in log-only mode and labelled by the simulated reviewer; `routed` came
    after the certificates were activated. `verdicts` holds each slice's certificate or why it
    has none.
    """

    about: str
    target: float
    delta: float
    logged: tuple[Routed, ...]
    routed: tuple[Routed, ...]
    verdicts: Verdicts
    seconds: float

    @property
    def automated(self) -> tuple[Routed, ...]:
        """Return the items that acted without a person."""
        return tuple(item for item in self.routed if item.route is Route.AUTO_APPROVE)

    @property
    def correct(self) -> int:
        """Return how many automated items were really right."""
        return sum(item.correct for item in self.automated)

    @property
    def automation(self) -> float:
        """Return the automated share of the routed items, in [0, 1]."""
        return len(self.automated) / len(self.routed) if self.routed else 0.0

    @property
    def precision(self) -> float | None:
        """Return the true precision of what was automated; None if nothing was."""
        return self.correct / len(self.automated) if self.automated else None

    @property
    def missed(self) -> bool:
        """Tell whether what was automated was less precise than the target."""
        return self.precision is not None and self.precision < self.target

    @property
    def accuracy(self) -> float:
        """Return the share of all outputs that are right, in [0, 1]."""
        items = (*self.logged, *self.routed)
        return sum(item.correct for item in items) / len(items) if items else 0.0

    @property
    def auroc(self) -> float | None:
        """Return how well the composite score tells right from wrong, over all items."""
        scored = [item for item in (*self.logged, *self.routed) if item.score is not None]
        return auroc([item.score or 0.0 for item in scored], [item.correct for item in scored])

    @property
    def routes(self) -> Mapping[Route, int]:
        """Return how many routed items took each route, most frequent first."""
        return dict(Counter(item.route for item in self.routed).most_common())

    @property
    def reasons(self) -> Mapping[str, tuple[int, str]]:
        """Return per reason code how many items it sent to people, with an example sentence."""
        counts: Counter[str] = Counter()
        examples: dict[str, str] = {}
        for item in self.routed:
            if item.route is Route.AUTO_APPROVE:
                continue
            for reason in item.reasons:
                counts[reason.code] += 1
                examples.setdefault(reason.code, reason.message)
        return {code: (count, examples[code]) for code, count in counts.most_common()}


def result_json(result: DemoResult) -> dict[str, Any]:
    """Return the result as JSON values: the figures of the table, and every slice's verdict."""
    return {
        "about": result.about,
        "target": result.target,
        "delta": result.delta,
        "logged": len(result.logged),
        "routed": len(result.routed),
        "automated": len(result.automated),
        "correct": result.correct,
        "automation": result.automation,
        "precision": result.precision,
        "missed": result.missed,
        "accuracy": result.accuracy,
        "auroc": result.auroc,
        "routes": {str(route): count for route, count in result.routes.items()},
        "reasons": {code: count for code, (count, _) in result.reasons.items()},
        "slices": {key: _verdict_json(verdict) for key, verdict in result.verdicts.items()},
        "seconds": round(result.seconds, 2),
    }


def _verdict_json(verdict: Certificate | Uncertified) -> dict[str, Any]:
    """Return a certificate, or why there is none, as JSON values."""
    values = asdict(verdict)
    if isinstance(verdict, Certificate):
        return {"certified": True, **values, "issued_at": verdict.issued_at.isoformat()}
    return {"certified": False, **values}
