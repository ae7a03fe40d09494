"""Six disputes are open, and an agent closes one a turn. Who says that it is done?

A program looks at the disputes after every third turn. No model is called, and what the agent says
of itself counts for nothing. Run it: python examples/reconciliation.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import sureline

POLICY = """
version: 1
missions:
  reconciliation:
    evaluate_every: 3
    max_invocations: 20
    timeout_hours: 8
"""


def close_one(disputes: list[str]) -> str:
    """Stand for an agent: close a dispute, and claim that everything is done."""
    closed = disputes.pop()
    return f"I closed {closed}. The objective is achieved, nothing is left to do."


def main() -> None:
    """Work until the mission says that no more invocation may run."""
    disputes = [f"dispute-{number}" for number in range(1, 7)]
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.yaml"
        policy.write_text(POLICY, encoding="utf-8")
        store = f"sqlite:///{folder}/sureline.db"
        with (
            sureline.Gate.open(policy, store=store) as gate,
            gate.mission(
                "reconciliation",
                objective="Close all open disputes.",
                success_check=lambda _: not disputes,
            ) as mission,
        ):
            while mission.goes_on:
                turn = mission.before_invocation_sync().number
                said = close_one(disputes)
                mission.after_invocation_sync(answer=said)
                print(f"turn {turn}: {len(disputes)} open, mission {mission.state}")


if __name__ == "__main__":
    main()
