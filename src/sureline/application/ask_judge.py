"""Ask the judge, for a decision or to examine the judge itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from sureline.application.measure import is_cancelled
from sureline.application.ports.signals import Judge
from sureline.core.gate.judging import judge_signal
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.errors import ModelFailed


async def ask_judge(
    judge: Judge, proposal: Proposal, policy: SlicePolicy, seconds: float
) -> Signal:
    """Return the signal `judge`; a judge that fails or is late never stops whoever asks.

    It is told how many `seconds` it has.
    """
    name, kind = "judge", SignalKind.JUDGE
    try:
        async with asyncio.timeout(seconds):
            verdict = await judge.judge(replace(proposal, deadline=seconds), policy)
    except TimeoutError:
        return Signal.failed(name, kind, "deadline")
    except ModelFailed as error:
        return Signal.failed(name, kind, error.reason, detail=error.detail, findings=error.findings)
    except asyncio.CancelledError:
        if is_cancelled():
            raise
        # Something inside the judge was cancelled, not whoever asks.
        return Signal.failed("judge", SignalKind.JUDGE, "judge_raised")
    except Exception as error:  # noqa: BLE001 - whatever a judge raises is a failed judge
        detail = {"error": type(error).__name__}
        return Signal.failed(name, kind, "judge_raised", detail=detail)
    return judge_signal(verdict, policy)
