"""What a program brings along when it opens a gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sureline.adapters.clock import SystemClock
from sureline.adapters.ids import new_id
from sureline.application.jobs import JobSettings
from sureline.application.ports.clock import Clock
from sureline.application.ports.embedder import Embedder, EmbeddingModel
from sureline.application.ports.missions import MissionJudgePort
from sureline.application.ports.models import ModelClient, ModelLimits
from sureline.application.ports.signals import Judge, SignalSource
from sureline.application.ports.switches import HardSwitch
from sureline.application.ports.tracing import UNTRACED, Tracer
from sureline.config import EnvironmentSwitch, model_limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugins:
    """What a program brings along: signal sources, judges, models by name, an embedder.

    `models` maps the names that a policy's `output.model` uses to pydantic model classes.
    `model_client` asks language models in place of the providers' own clients; `limits` say how.
    `most_cases` is how many of a slice's latest verdicts are kept for similarity search.
    `tracer` makes spans; `tracer_on` gives one on the program's own OpenTelemetry.
    """

    signals: Sequence[SignalSource] = ()
    judge: Judge | None = None
    mission_judge: MissionJudgePort | None = None
    models: Mapping[str, Any] = field(default_factory=dict)
    model_client: ModelClient | None = None
    limits: ModelLimits = field(default_factory=model_limits)
    embedder: Embedder | None = None
    most_cases: int = 20_000
    clock: Clock = field(default_factory=SystemClock)
    hard_switch: HardSwitch = field(default_factory=EnvironmentSwitch)
    tracer: Tracer = UNTRACED
    jobs: JobSettings = field(default_factory=JobSettings)
    new_id: Callable[[], str] = new_id
    opened_models: dict[str, EmbeddingModel] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Embedding models by name, opened once for all that uses them."""
    forgetting: list[Callable[[], None]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )
    """What empties memories of this process that may quote a payload, after an erasure."""
    resting: list[Callable[[], Mapping[str, bool]]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )
    """What tells of models whether they are left alone after faults."""

    def forget(self) -> None:
        """Empty what is kept in memory and may quote a payload."""
        for one in self.forgetting:
            one()
