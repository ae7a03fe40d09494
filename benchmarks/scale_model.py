"""What a load needs of each resource, from measured constants, and a simulation of the commits."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scale_constants import Constants

BUSY = 0.6
"""How busy a gate process is planned to be: above, callers wait for each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What there is: the limits that needs are compared with, and how much goes to people."""

    server_cores: float = 16.0
    log_rate: float = 200e6
    """Bytes of log a second that the database's disk takes for good."""
    connections: float = 500.0
    to_people: float = 0.05
    """The share of decisions that open an item of the queue."""


def processes(one: Constants, per_second: float) -> int:
    """Return how many gate processes a load over HTTP takes."""
    return max(1, math.ceil(per_second * one.http / BUSY))


def needs(one: Constants, per_second: float, site: Site) -> Mapping[str, float]:
    """Return what share of each resource a load takes; above 1 it does not fit.

    These are what decisions wait for; the fixed part of transactions is left to the simulation.
    """
    gates = processes(one, per_second)
    waiting = per_second * site.to_people
    if one.kind == "sqlite":
        # One writer at a time, whoever it is: a batch of each process after the other.
        each = one.plain.each * (1 - site.to_people) + one.opening.each * site.to_people
        return {"the file's one lock": per_second * each}
    return {
        "the one lock": waiting * one.opening.each,
        "processors of the server": per_second * one.server / site.server_cores,
        "log": per_second * one.log / site.log_rate,
        "connections": gates * one.connections / site.connections,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What a simulated load came to: decisions a second, and the 99th percentile in seconds."""

    per_second: float
    p99: float
    locked: float
    """The share of the time that the one lock was held."""


def simulate(
    one: Constants,
    per_second: float,
    gates: int,
    site: Site,
    *,
    seconds: float = 4.0,
    seed: int = 1,
) -> Simulated:
    """Let processes take decisions as they come, and commit them as the store does.

    Arrivals are random, and spread over the processes. Each process measures one after the other
    and commits what gathered meanwhile: first what needs no lock, then, under the one lock, what
    opens an item. On a file everything is under the lock.
    """
    draw = np.random.default_rng(seed)
    count = max(1, round(seconds * per_second / gates))
    ready, arrived, opens = [], [], []
    for _ in range(gates):
        at = np.cumsum(draw.exponential(gates / per_second, count))
        # finish[i] = max(at[i], finish[i-1]) + http: a queue with one server, in closed form.
        steps = np.arange(1, count + 1) * one.http
        ready.append(np.maximum.accumulate(at - steps + one.http) + steps)
        arrived.append(at)
        opens.append(draw.random(count) < site.to_people)
    end = float(min(at[-1] for at in arrived))
    free, held, done, waited = 0.0, 0.0, 0, []
    turns = [(float(one_ready[0]), gate, 0) for gate, one_ready in enumerate(ready)]
    heapq.heapify(turns)
    while turns:
        now, gate, first = heapq.heappop(turns)
        last = max(first + 1, int(np.searchsorted(ready[gate], now, "right")))
        locked = int(opens[gate][first:last].sum())
        plain = last - first - locked
        if one.kind == "sqlite":
            start = max(now, free)
            fixed = max(one.plain.fixed, one.opening.fixed)
            now = free = start + fixed + plain * one.plain.each + locked * one.opening.each
            held += now - start
        else:
            now += (one.plain.fixed + plain * one.plain.each) if plain else 0.0
            if locked:
                start = max(now, free)
                now = free = start + one.opening.fixed + locked * one.opening.each
                held += now - start
        waited.append(now - arrived[gate][first:last])
        done += last - first if now <= end else 0
        if last < count:
            heapq.heappush(turns, (max(now, float(ready[gate][last])), gate, last))
    return Simulated(
        per_second=done / end,
        p99=float(np.quantile(np.concatenate(waited), 0.99)),
        locked=min(1.0, held / end),
    )
