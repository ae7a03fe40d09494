"""Wire missions."""

from __future__ import annotations

from sureline.adapters.storage.store import Store
from sureline.application.current import Currents
from sureline.application.mission.bus import MissionBus
from sureline.application.mission.evaluating import Evaluating
from sureline.application.mission.evaluation_run import EvaluationRun
from sureline.application.mission.judge import ModelMissionJudge
from sureline.application.mission.kinds import Kinds
from sureline.application.mission.missions import Missions
from sureline.application.mission.overdue import Overdue
from sureline.application.mission.recording import Recorder
from sureline.application.models_seen import ModelWatch
from sureline.application.policies import PolicyBook
from sureline.application.ports.models import ModelClient
from sureline.bootstrap.opinions import new_nonce
from sureline.bootstrap.plugins import Plugins


def missions_of(
    store: Store,
    currents: Currents,
    policies: PolicyBook,
    plugins: Plugins,
    *,
    client: ModelClient,
    workspace: str,
) -> Missions:
    """Return the missions of a workspace; made once for a store, which it remembers things of."""
    kinds = Kinds(policies=policies, has_judge=plugins.mission_judge is not None)
    bus, overdue = MissionBus(), Overdue(plugins.clock)
    judge = plugins.mission_judge or ModelMissionJudge(client=client, new_nonce=new_nonce)
    runs = EvaluationRun(
        store=store.missions,
        kinds=kinds,
        evaluating=Evaluating(judge=judge),
        currents=currents,
        ledger=store.ledger,
        hard_switch=plugins.hard_switch,
        recorder=Recorder(secret=store.secret),
        models=ModelWatch(registry=store.registry, clock=plugins.clock, workspace=workspace),
        overdue=overdue,
        clock=plugins.clock,
        workspace=workspace,
        tell=lambda step: bus.tell(step.events),
        new_id=plugins.new_id,
    )
    return Missions(
        store=store.missions,
        kinds=kinds,
        runs=runs,
        overdue=overdue,
        bus=bus,
        clock=plugins.clock,
        new_id=plugins.new_id,
        workspace=workspace,
        forget=plugins.forget,
    )
