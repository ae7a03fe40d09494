"""`sureline simulate`: what another policy, threshold or weights would have done (L7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.simulate import Change, Simulator, SliceSimulation
from sureline.bootstrap import Services, load_policy
from sureline.cli.options import JsonOption, StoreOption, WorkspaceOption
from sureline.cli.output import note, print_json, print_table, say
from sureline.cli.session import on_store
from sureline.core.learning.simulation import Situation
from sureline.core.statistics.stratified import StratifiedShare
from sureline.core.values.counted import counted
from sureline.core.values.threshold_text import threshold_text
from sureline.errors import InvalidInput

_ORIGINS = {
    "given": "as given",
    "certificate": "of the active certificate",
    "labels": "that these labels would certify",
    "hypothesis": "of the hypothesis, uncertified",
}


def simulate(
    policy: Annotated[
        Path | None, typer.Option("--policy", help="The policy file to try; never stored.")
    ] = None,
    slice_key: Annotated[str | None, typer.Option("--slice", help="Only this slice.")] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Automate at this value or above.")
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option("--weight", metavar="SIGNAL=WEIGHT", help="The weights to try; repeat."),
    ] = None,
    since: Annotated[
        datetime | None, typer.Option("--since", formats=["%Y-%m-%d"], help="Leave out older ones.")
    ] = None,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, help="Seconds per review.")
    ] = 30.0,
    wage: Annotated[
        float | None, typer.Option("--wage", min=0.0, help="What an hour of reviewing costs.")
    ] = None,
    judge_price: Annotated[
        float, typer.Option("--judge-price", min=0.0, help="Price of one call of the judge.")
    ] = 0.0,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Replay recorded decisions under other rules; no model is called and nothing changes.

    Exit code 0 whatever comes out.
    """
    change = Change(
        policy=None if policy is None else load_policy(policy).policy,
        threshold=threshold,
        weights=_weights(weights),
        slice_key=slice_key,
        since=None if since is None else since.replace(tzinfo=UTC),
    )

    async def work(services: Services) -> tuple[SliceSimulation, ...]:
        return await simulator(services).simulate(change)

    found = on_store(work, store=store, workspace=workspace)
    prices = (seconds, wage, judge_price)
    if as_json:
        print_json({"slices": [_json(one, prices) for one in found]})
        return
    for one in found:
        _show(one, prices)


def simulator(services: Services) -> Simulator:
    """Return the simulator on an open store."""
    return Simulator(
        ledger=services.ledger,
        registry=services.registry,
        policies=services.policies,
        clock=services.clock,
        secret=services.decider.secret,
        workspace=services.workspace,
    )


def _weights(given: Sequence[str] | None) -> dict[str, float] | None:
    return dict(map(_weight, given)) if given else None


def _weight(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise InvalidInput(
            f"expected SIGNAL=WEIGHT, such as history=0.3, got {text!r}", field="--weight"
        ) from None


Prices = tuple[float, float | None, float]
"""Seconds per review, the wage per hour if known, and the price of a judgement."""


def _costs(one: Situation, judged: int | None, prices: Prices) -> tuple[float, float | None]:
    """Return people's minutes and what they and the judge cost; no wage, no money."""
    seconds, wage, judge_price = prices
    minutes = one.reviews * seconds / 60
    if wage is None or judged is None:
        return minutes, None
    return minutes, minutes / 60 * wage + judged * judge_price


def _json(one: SliceSimulation, prices: Prices) -> dict[str, Any]:
    simulation = one.simulation
    sides = {
        name: {
            **asdict(situation),
            "automation": situation.automation,
            "minutes": _costs(situation, judged, prices)[0],
            "cost": _costs(situation, judged, prices)[1],
        }
        for name, situation, judged in (
            ("before", simulation.before, None),
            ("after", simulation.after, simulation.judged),
        )
    }
    return {
        "slice_key": one.slice_key,
        "threshold": one.threshold,
        "threshold_from": one.threshold_from,
        "proven": one.proven,
        "missing": None if one.missing is None else one.missing.message,
        "log_only": one.log_only,
        **sides,
        "moved": [
            {"before": old, "after": new, "decisions": count}
            for (old, new), count in sorted(simulation.moved.items())
        ],
        "judged": simulation.judged,
        "judge_unknown": simulation.judge_unknown,
        "incidents": simulation.incidents,
        "not_measured_again": {
            "stale": dict(one.gaps.stale),
            "absent": dict(one.gaps.absent),
            "unknown_policy": one.gaps.unknown_policy,
            "other_models": one.gaps.other_models,
        },
    }


def _show(one: SliceSimulation, prices: Prices) -> None:
    simulation = one.simulation
    before, after = simulation.before, simulation.after
    if not after.decisions:
        say(f"{one.slice_key}: no decisions to replay")
        return
    old_minutes, _ = _costs(before, None, prices)
    minutes, cost = _costs(after, simulation.judged, prices)
    rows: list[tuple[Any, ...]] = [
        ("automated", f"{before.automation:.1%}", f"{after.automation:.1%}"),
        ("precision", _precision(before.precision), _precision(after.precision)),
        ("labels behind it", before.precision.labels, after.precision.labels),
        ("reviews", before.reviews, after.reviews),
        ("minutes of people", f"{old_minutes:.0f}", f"{minutes:.0f}"),
    ]
    if cost is not None:
        rows.append(("cost", "", f"{cost:.2f}"))
    print_table(
        f"{one.slice_key}: {counted(after.decisions, 'decision')}", ("", "before", "after"), rows
    )
    for sentence in _sentences(one):
        say(sentence)
    for sentence in _warnings(one):
        note(f"note: {sentence}")


def _precision(share: StratifiedShare) -> str:
    if share.estimate is None:
        return "unknown: no labels" if share.items else "nothing automated"
    low, high = share.interval
    return f"{share.estimate:.3f} ({low:.3f} to {high:.3f})"


def _sentences(one: SliceSimulation) -> Iterator[str]:
    if one.threshold is None:
        why = "" if one.missing is None else f": {one.missing.message}"
        yield f"no threshold holds, so nothing would be automated{why}"
    else:
        yield f"threshold {threshold_text(one.threshold)}, {_ORIGINS[one.threshold_from]}"
        if one.proven is not None:
            yield f"proven precision: at least {one.proven:.4f}"
    for (old, new), count in sorted(one.simulation.moved.items()):
        yield f"{count} from {old} to {new}"
    after = one.simulation.after
    silent = after.automated - after.precision.labels
    if silent:
        worst, best = after.precision.extremes
        yield (
            f"{silent} that would be automated have no label of a sample; with all of them wrong "
            f"the precision is {worst:.3f}, with all right {best:.3f}"
        )
    if after.precision.unrepresented:
        yield (
            f"{after.precision.unrepresented} of them are of a kind that nobody was ever shown; "
            "the interval lets all of these be wrong, or right"
        )


def _foreign(one: SliceSimulation) -> Iterator[str]:
    if one.gaps.unknown_policy:
        unknown = counted(one.gaps.unknown_policy, "decision")
        yield f"made under a policy that is not stored: {unknown}"
    if one.gaps.other_models:
        others = counted(one.gaps.other_models, "decision")
        yield (
            f"measured by other models than answer now: {others}; their scores were used as "
            "recorded, and their labels certify nothing"
        )


def _warnings(one: SliceSimulation) -> Iterator[str]:
    if one.threshold_from == "labels":
        yield "the threshold was chosen on these labels: what is proven counts, not the precision"
    for name, count in sorted(one.gaps.stale.items()):
        yield f"{name}: settings differ for {counted(count, 'decision')}; recorded values were used"
    for name, count in sorted(one.gaps.absent.items()):
        yield f"{name}: never measured for {counted(count, 'decision')}, so a person decides them"
    if one.simulation.judge_unknown:
        unknown = counted(one.simulation.judge_unknown, "decision")
        yield f"not known is what the judge would say of {unknown}"
    yield from _foreign(one)
    if one.simulation.incidents:
        wrong = counted(one.simulation.incidents, "automated output")
        yield f"known to be wrong from incidents: {wrong}"
    if one.log_only:
        yield "the slice is in log_only; these are the figures of mode: route"
