"""Second opinions that take no time: what is left is the gate's own work."""

from __future__ import annotations

import json
from pathlib import Path

from filled_store import policy_text

from sureline.application.ports.models import Asking, Prompt, Reply
from sureline.core.values.model_card import Usage

OPINIONS = """\
    self_evaluation: {model: "p:evaluator", deductions: deductions.yaml}
    judge: {model: "p:judge", otherwise: 0.08, borderline: 0.05}
"""
DEDUCTIONS = Path(__file__).parents[1] / "src/sureline/cli/starter/deductions.yaml"
AGREES = json.dumps(
    {
        "reason": "I found nothing that contradicts the source.",
        "failure_mode": None,
        "agrees": True,
        "confidence": 0.9,
    }
)
FLAWED = json.dumps({"deductions": [{"id": "invented_facts", "span": '"currency": "EUR"'}]})
CLEAN = json.dumps({"deductions": []})
CLEAN_SHARE = 5
"""One output in so many is found clean, which puts it near the threshold, where all are judged."""


class InstantModels:
    """Answers at once in the form that is asked for; counts the questions to each model."""

    def __init__(self) -> None:
        self.asked = {"p:evaluator": 0, "p:judge": 0}

    async def ask(self, prompt: Prompt, asking: Asking) -> Reply:  # noqa: ARG002
        self.asked[asking.model] += 1
        usage = Usage(input_tokens=900, output_tokens=30, cost=0.0003, seconds=0.0)
        if asking.model == "p:judge":
            return Reply(text=AGREES, model="judge-1", usage=usage)
        clean = self.asked["p:evaluator"] % CLEAN_SHARE == 0
        return Reply(text=CLEAN if clean else FLAWED, model="evaluator-1", usage=usage)


def opinionated_policy(folder: Path) -> str:
    """Return the benchmark's policy with both opinions, and write the deductions beside it."""
    (folder / "deductions.yaml").write_text(DEDUCTIONS.read_text("utf-8"), "utf-8")
    weights = "{verification: 0.5, self_evaluation: 0.3, judge: 0.2}"
    return policy_text(0).replace("{verification: 1}", weights) + OPINIONS
