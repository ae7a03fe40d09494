"""Vectors made anew: all that can be, none that may not, and nothing is lost on the way."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.application.reembed import BATCH
from sureline.errors import EmbeddingFailed, InvalidInput, Refused
from tests.cases.doors import ask
from tests.cases.pasts import VENDORS, MarkedEmbedder, open_gate, payment, teach

OLD, NEW = MarkedEmbedder("old", 64), MarkedEmbedder("new", 96)


class Kill(BaseException):
    """The process dies here."""


class Tripping(HashingEmbedder):
    """Fails or dies at texts with a mark, or after a number of calls."""

    def __init__(self, *, at=None, after=None, raises=EmbeddingFailed, model_id="new:96"):
        super().__init__(96)
        self.model_id = model_id
        self.at, self.left, self.raises = at, after, raises

    async def embed(self, texts):
        if self.left is not None and self.left <= 0:
            raise self.raises("enough")
        if self.left is not None:
            self.left -= 1
        if self.at is not None and any(self.at in text for text in texts):
            raise self.raises("this text")
        return await super().embed(texts)


def run(gate, slice_key="payments"):
    """Make vectors anew; return the plan and what came of it."""

    async def work():
        reembedder = gate.services.reembedder
        (plan,) = await reembedder.plan(slice_key)
        return plan, await reembedder.carry_out(plan)

    return gate.run(work())


def history_of(gate, amount=77.7, vendor=VENDORS[0]):
    return ask(gate, payment(vendor, amount))["signals"]["history"]


@pytest.fixture
def taught(tmp_path):
    """A store with twelve verdicts under the old embedder."""
    with open_gate(tmp_path, embedder=OLD) as gate:
        ids = teach(gate)
    return tmp_path, ids


def many(gate, number):
    """Let a person approve many payments; return the decisions' ids."""
    ids = []
    for at in range(number):
        answer = ask(gate, payment(VENDORS[at % 3], 1000 + at))
        gate.run(gate.record_outcome(answer["id"], action="approve", by="Ada"))
        ids.append(answer["id"])
    return ids


def test_history_speaks_again(taught):
    """After a change of embedder history is silent until its vectors are made anew."""
    folder, ids = taught
    with open_gate(folder, embedder=NEW) as gate:
        assert history_of(gate)["reason"] == "too_few"
        plan, done = run(gate)
        assert (len(plan.missing), done.made, done.failed) == (len(ids), len(ids), [])
    with open_gate(folder, embedder=NEW) as gate:
        signal = history_of(gate)
    assert (signal["state"], signal["value"]) == ("measured", 1.0)
    assert signal["detail"]["cases"] == len(ids)


def test_a_running_gate_reads_them_at_the_next_verdict(taught):
    """A gate that had read the past already takes the new vectors in, and in the right order."""
    folder, ids = taught
    with open_gate(folder, embedder=NEW) as gate:
        answer = ask(gate, payment(amount=5))
        gate.run(gate.record_outcome(answer["id"], action="approve", by="Ada"))
        assert history_of(gate, 6)["detail"]["cases"] == 1
        run(gate)
        answer = ask(gate, payment(amount=7))
        gate.run(gate.record_outcome(answer["id"], action="approve", by="Ada"))
        signal = history_of(gate, 8)
    assert (signal["state"], signal["detail"]["cases"]) == ("measured", len(ids) + 2)


@pytest.mark.sqlite_file
def test_a_vector_made_anew_is_what_would_have_been_recorded(taught):
    """The stored payload gives the very vector that a decision made now gets."""
    folder, ids = taught
    with open_gate(folder, embedder=NEW) as gate:
        run(gate)
        answer = ask(gate, payment(VENDORS[0], 112.5))
    with closing(sqlite3.connect(folder / "store.db")) as store:
        sql = "SELECT v.vector FROM {} v JOIN decisions d USING (stream, seq) WHERE d.id = ?"
        ((remade,),) = store.execute(sql.format("remade_vectors"), (ids[0],)).fetchall()
        ((own,),) = store.execute(sql.format("vectors"), (answer["id"],)).fetchall()
    assert remade == own


def test_a_second_run_has_nothing_to_do(taught):
    """What was made is neither made nor announced again."""
    folder, ids = taught
    with open_gate(folder, embedder=NEW) as gate:
        run(gate)
        plan, done = run(gate)
        said = gate.run(gate.services.registry.activations("default", "reembedded"))
    assert (plan.own, plan.remade, len(plan.missing), done.made) == (0, len(ids), 0, 0)
    assert [one.subject for one in said] == [f"slice payments, new:96, {len(ids)} vectors"]


def test_the_embedder_that_recorded_them_needs_nothing(taught):
    """Vectors of the slice's own embedder are left as they are."""
    folder, ids = taught
    with open_gate(folder, embedder=OLD) as gate:
        plan, done = run(gate)
    assert (plan.own, len(plan.missing), done.made) == (len(ids), 0, 0)


def test_a_run_that_dies_is_gone_on_with(tmp_path):
    """Killed between batches, nothing is lost, the latest are there, and the next run ends it."""
    with open_gate(tmp_path, embedder=OLD) as gate:
        ids = many(gate, 2 * BATCH + 9)
    # One call for the plan, one for the first batch.
    with open_gate(tmp_path, embedder=Tripping(after=2, raises=Kill)) as gate:
        with pytest.raises(Kill):
            run(gate)
        signal = history_of_stored(gate)
        assert signal == BATCH
    with open_gate(tmp_path, embedder=NEW) as gate:
        plan, done = run(gate)
        assert (plan.remade, done.made) == (BATCH, len(ids) - BATCH)
        assert history_of(gate)["detail"]["cases"] == len(ids)


def history_of_stored(gate):
    found = gate.run(gate.services.ledger.cases_since(0, "new:96"))
    return sum(one.model_id == "new:96" for one in found)


@pytest.mark.sqlite_file
def test_what_is_erased_has_no_vector_anew(taught):
    """An erased payload is skipped and counted; erasing later takes the new vector away too."""
    folder, ids = taught

    def erase(gate, decision_id):
        services = gate.services
        return gate.run(
            services.ledger.erase(
                "default", decision_id, by="Ada", reason="asked", at=services.clock.now()
            )
        )

    with open_gate(folder, embedder=NEW) as gate:
        assert erase(gate, ids[0])
        plan, done = run(gate)
        assert (plan.erased, done.made) == (1, len(ids) - 1)
        assert erase(gate, ids[1])
        assert not erase(gate, ids[1])
        kept = {one.decision_id for one in usable(gate, "new:96")}
        assert gate.run(gate.services.ledger.verify()).ok
        assert gate.run(gate.services.check_cases()).ok
    assert kept == set(ids[2:])
    with closing(sqlite3.connect(folder / "store.db")) as store:
        assert store.execute("SELECT count(*) FROM remade_vectors").fetchone() == (len(ids) - 2,)


def usable(gate, model_id):
    found = gate.run(gate.services.ledger.cases_since(0, model_id))
    return [one for one in found if one.approved is not None and one.vector]


def test_a_payload_erased_while_it_is_embedded_keeps_no_vector(taught):
    """Between reading and writing an erasure wins."""
    folder, ids = taught

    class Slow(Tripping):
        async def embed(self, texts):
            if len(texts) > 1:
                services = gate.services
                await services.ledger.erase(
                    "default", ids[3], by="Ada", reason="asked", at=services.clock.now()
                )
            return await super().embed(texts)

    with open_gate(folder, embedder=Slow()) as gate:
        _, done = run(gate)
    assert (done.made, done.erased) == (len(ids) - 1, 1)


def test_a_text_that_cannot_be_embedded_is_left_out_and_counted(taught):
    """One faulty text does not cost the others theirs."""
    folder, ids = taught
    with open_gate(folder, embedder=Tripping(at="112.5")) as gate:
        _, done = run(gate)
    assert len(done.failed) == 3
    assert done.made == len(ids) - 3
    assert set(done.failed) < set(ids)


def test_many_faulty_texts_are_not_a_broken_model(taught):
    """Where all texts fail and the model does not, the run comes to its end."""
    folder, ids = taught
    with open_gate(folder, embedder=Tripping(at="vendor")) as gate:
        _, done = run(gate)
        said = gate.run(gate.services.registry.activations("default", "reembedded"))
    assert (done.made, len(done.failed), list(said)) == (0, len(ids), [])


def test_a_model_that_fails_ends_the_run(tmp_path):
    """A model that is away is an error; what was made before is kept."""
    with open_gate(tmp_path, embedder=OLD) as gate:
        many(gate, BATCH + 9)
    with open_gate(tmp_path, embedder=Tripping(after=2)) as gate:
        with pytest.raises(EmbeddingFailed, match="enough"):
            run(gate)
        assert history_of_stored(gate) == BATCH


def test_another_model_than_planned_ends_the_run(taught):
    """Where the answering model changes on the way, nothing of it is mixed in."""
    folder, _ = taught
    embedder = Tripping()
    with open_gate(folder, embedder=embedder) as gate:

        async def work():
            reembedder = gate.services.reembedder
            (plan,) = await reembedder.plan("payments")
            embedder.model_id = "newer:96"
            return await reembedder.carry_out(plan)

        with pytest.raises(Refused, match="newer:96 answers now"):
            gate.run(work())
        assert history_of_stored(gate) == 0


@pytest.mark.parametrize("row", ["zeros", "nan"])
def test_a_vector_that_cannot_be_compared_is_not_kept(taught, row):
    """Zeros and what is not finite count as failed."""
    folder, ids = taught

    class Broken(Tripping):
        async def embed(self, texts):
            rows = await super().embed(texts)
            return rows * np.float32(0 if row == "zeros" else "nan")

    with open_gate(folder, embedder=Broken()) as gate:
        _, done = run(gate)
    assert (done.made, len(done.failed)) == (0, len(ids))


def test_a_claimed_task_is_not_made_a_case(tmp_path):
    """G34: what had no vector because nobody vouched for its task gets none later."""
    with open_gate(tmp_path, embedder=OLD) as gate:
        answer = gate.run(decide_claimed(gate))
        gate.run(gate.record_outcome(answer, action="approve", by="Ada"))
    with open_gate(tmp_path, embedder=NEW) as gate:
        plan, done = run(gate)
    assert (plan.missing, done.made) == ((), 0)


async def decide_claimed(gate):
    from sureline.application.intake import read_proposal

    proposal = read_proposal(payment(), trusted=False)
    return (await gate.services.decider.decide(proposal)).decision.id


@pytest.mark.sqlite_file
def test_a_damaged_vector_is_found_and_made_again(taught):
    """A changed byte fails the search, is told by verification, and is put right by a run."""
    folder, _ = taught
    with open_gate(folder, embedder=NEW) as gate:
        run(gate)
    with closing(sqlite3.connect(folder / "store.db")) as store:
        store.execute("UPDATE remade_vectors SET vector = zeroblob(384) WHERE rowid = 3")
        store.commit()
    with open_gate(folder, embedder=NEW) as gate:
        assert history_of(gate)["reason"] == "search_failed"
        assert not gate.run(gate.services.check_cases()).ok
        plan, done = run(gate)
        assert (len(plan.missing), done.made) == (1, 1)
    with open_gate(folder, embedder=NEW) as gate:
        assert history_of(gate, 5)["state"] == "measured"
        assert gate.run(gate.services.check_cases()).ok


@pytest.mark.parametrize(
    ("slice_key", "message"), [("nosuch", "has no slice 'nosuch'"), ("letters", None)]
)
def test_a_slice_is_named(taught, slice_key, message):
    """Only the named slice is dealt with; one that is not there is an error that lists them."""
    folder, _ = taught
    with open_gate(folder, embedder=NEW) as gate:
        if message is None:
            plan, _ = run(gate, slice_key)
            assert (plan.slice_key, plan.missing) == ("letters", ())
        else:
            with pytest.raises(InvalidInput, match=message):
                run(gate, slice_key)


def test_two_runs_at_once_make_the_same(taught):
    """Two runs may overlap: a vector is what it is, whoever writes it."""
    folder, ids = taught
    with open_gate(folder, embedder=NEW) as gate:

        async def work():
            reembedder = gate.services.reembedder
            (plan,) = await reembedder.plan("payments")
            return await asyncio.gather(*(reembedder.carry_out(plan) for _ in range(2)))

        gate.run(work())
        assert len(usable(gate, "new:96")) == len(ids)


def test_the_report_reads_them_too(taught):
    """The latest cases of a slice are of one model: that of the latest, re-made ones included."""
    folder, ids = taught

    def latest(gate):
        return gate.run(gate.services.store.cases.latest("default", "payments", 100))

    with open_gate(folder, embedder=NEW) as gate:
        assert {one.model_id for one in latest(gate)} == {"old:64"}
        answer = ask(gate, payment(amount=5))
        gate.run(gate.record_outcome(answer["id"], action="approve", by="Ada"))
        assert [one.decision_id for one in latest(gate)] == [answer["id"]]
        run(gate)
        found = latest(gate)
    assert [one.decision_id for one in found] == [answer["id"], *reversed(ids)]
    assert {(one.model_id, len(one.vector)) for one in found} == {("new:96", 4 * 96)}


def test_the_logbook_tells_of_it(taught):
    """Who asks what changed finds the run."""
    folder, ids = taught
    with open_gate(folder, embedder=NEW) as gate:
        run(gate)
        told = [one for one in gate.run(gate.services.logbook.entries()) if one.by == "reembed"]
    assert [(one.change, one.note) for one in told] == [
        ("reembedded", f"{len(ids)} vectors made anew, 0 could not be")
    ]
