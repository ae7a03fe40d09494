"""A store whose gate lets outputs act alone, and what people say of them later."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

from sureline.application.intake import read_proposal
from sureline.application.label import GivenAnswer
from sureline.application.ports.reviews import Wanted
from sureline.application.review.desk import Said
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.values.incident import Incident
from sureline.core.values.notification import Notice, NoticeKind
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.review import Review, ReviewKind
from sureline.testing import MOMENT, FixedClock

POLICY = f"""\
version: 1
slices:
  invoices:
    mode: route
    reject_audit_rate: 0
    audit_rate: 0.3
    weights: {{verification: 1}}
    output: {{json_schema: {{type: object}}}}
    hypothesis: {{auto: 0.85, reject: 0.55, allow_uncertified: true, starts: {MOMENT.date()}}}
  orders:
    mode: route
    reject_audit_rate: 0
    weights: {{verification: 1}}
    output: {{json_schema: {{type: object}}}}
    hypothesis: {{auto: 0.85, reject: 0.55, allow_uncertified: true, starts: {MOMENT.date()}}}
  replies:
    mode: log_only
    output: {{structured: false}}
"""
_numbers = count()


async def opened(path: Path | None = None, clock: FixedClock | None = None) -> Services:
    """Open a store under a policy that lets good outputs act alone."""
    url = "sqlite://" if path is None else f"sqlite:///{path}"
    services = open_services(url, plugins=Plugins(clock=clock or FixedClock()))
    await services.policies.introduce(POLICY)
    return services


async def act(services: Services, name: str, **more: Any) -> str:
    """Bring an output that acts alone before the gate, and return its id."""
    given = {"slice_key": "invoices", "task": f"read {name}", "output": {"name": name}, "id": name}
    submitted_by = more.pop("submitted_by", "billing-bot")
    proposal = read_proposal({**given, **more}, workspace="default", submitted_by=submitted_by)
    decided = (await services.decider.decide(proposal)).decision
    assert decided.route == "auto_approve"
    return decided.id


async def release(services: Services, name: str, action: Action = Action.APPROVE) -> str:
    """Bring an output before the gate that a person decides about, for good."""
    given = {"slice_key": "replies", "task": f"answer {name}", "output": "Yes.", "id": name}
    await services.decider.decide(read_proposal(given, workspace="default"))
    await decide(services, name, action)
    return name


async def decide(services: Services, review_id: str, action: Action, by: str = "ada") -> None:
    """Decide about an item, and let the time pass in which that can be taken back."""
    shown = await services.desk.show(review_id)
    said = Said(action=action, by=by, digest=shown.review.digest)
    await services.desk.decide(review_id, said)
    services.clock.advance(timedelta(seconds=11))  # type: ignore[attr-defined]
    await services.desk.settle()


async def say(
    services: Services,
    decision_id: str,
    action: Action,
    source: OutcomeSource = OutcomeSource.AUDIT,
    **more: Any,
) -> str:
    """Record what somebody found out later; return the answer's id."""
    given = {"id": f"o{next(_numbers)}", "by": "kim", **more}
    answer = GivenAnswer(decision_id=decision_id, action=action, source=source, **given)
    return (await services.labeller.record("default", answer)).id


async def told(services: Services, *kinds: NoticeKind) -> list[Notice]:
    """Return all notices of these kinds, the oldest first."""
    found: list[Notice] = []

    def plan(notice: Notice) -> list[str]:
        found.append(notice)
        return ["all"]

    await services.store.outbox.spread("default", plan, now=services.clock.now(), limit=1_000_000)
    return [one for one in found if one.kind in kinds]


async def incidents(services: Services, *, only_open: bool = True) -> list[Incident]:
    """Return the incidents, the newest first."""
    found = await services.store.incidents.list(
        "default", only_open=only_open, slices=(), limit=1_000
    )
    return list(found)


async def recalled_items(services: Services) -> list[Review]:
    """Return the open items that recalls have put into the queue."""
    wanted = Wanted(kinds=(ReviewKind.RECALL,))
    return list(await services.desk.page(wanted, limit=100_000))


async def is_derived(services: Services) -> None:
    """Check that all that follows from the ledger is as the ledger says."""
    wrong = [one.sentence for one in await services.store.derived.compare() if not one.ok]
    assert wrong == []
    assert (await services.ledger.verify()).ok  # type: ignore[attr-defined]
