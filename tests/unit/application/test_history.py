"""Looking up similar past cases: what is embedded, what is said, and what happens when it fails."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import numpy as np
import pytest

from sureline.adapters.embedders.hashing import HashingEmbedder
from sureline.adapters.search.exact import ExactCaseIndex
from sureline.application.fixed_model import FixedModel
from sureline.application.history import MOST_INDEXES, CaseText, HistorySource, case_text
from sureline.application.ports.cases import Neighbourhood, PastCase
from sureline.core.values.policy import HistoryPolicy, SlicePolicy
from sureline.core.values.proposal import Proposal, SourceText
from sureline.core.values.signal import SignalState
from sureline.errors import MissingExtra, StoreUnavailable

PROMPT = (
    "You are an accounts clerk. Extract vendor, amount, currency and due date from the invoice "
    "below and return JSON only. Do not invent values; leave a field null if it is absent. "
) * 4
POLICY = SlicePolicy(key="invoices", history=HistoryPolicy(fields=("vendor", "amount", "due")))
PLAIN = SlicePolicy(key="invoices")


class FakeLedger:
    """Keeps the verdicts that a test records."""

    def __init__(self):
        self.rows = []
        self.reads = 0
        self.broken = False

    def record(self, decision_id, vector, model_id, approved, *, workspace="default"):
        self.rows.append(
            PastCase(
                cursor=len(self.rows) + 1,
                workspace=workspace,
                slice_key="invoices",
                decision_id=decision_id,
                model_id=model_id,
                vector=vector,
                approved=approved,
            )
        )

    async def cases_since(self, cursor, model_id):
        self.reads += 1
        await asyncio.sleep(0)
        if self.broken:
            raise StoreUnavailable("the store is gone")
        return [row for row in self.rows if row.cursor > cursor and row.model_id == model_id]


class FakeEmbedder:
    """Gives what a test tells it to, or raises it."""

    model_id = "fake"
    dimension = 4

    def __init__(self, answer):
        self.answer = answer

    async def embed(self, texts):
        if isinstance(self.answer, BaseException):
            raise self.answer
        if isinstance(self.answer, str):
            await asyncio.Event().wait()
        return self.answer


class FakeIndex:
    """Answers every search alike and counts refreshes."""

    def __init__(self, answer=None):
        self.answer = answer or Neighbourhood(neighbours=(), cases=0, spread=None)
        self.refreshes = 0

    async def search(self, **_):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    async def refresh(self):
        self.refreshes += 1
        await asyncio.sleep(0)
        return 0


def invoice(vendor, amount, due="2026-12-01", **kwargs):
    return Proposal(
        slice_key="invoices",
        task=kwargs.pop("task", PROMPT),
        output=kwargs.pop("output", {"vendor": vendor, "amount": amount, "due": due}),
        **kwargs,
    )


@pytest.fixture
def ledger():
    return FakeLedger()


@pytest.fixture
def source(ledger):
    opened = []

    def open_index(model_id, dimension):
        opened.append(ExactCaseIndex(ledger, model_id, dimension=dimension))
        return opened[-1]

    yield HistorySource(
        model_for=lambda name: FixedModel(name, HashingEmbedder()),
        open_index=open_index,
        remade=never,
    )
    for index in opened:
        index.close()


async def never():
    return None


def source_of(embedder, index):
    return HistorySource(
        model_for=lambda name: FixedModel(name, embedder),
        open_index=lambda model_id, dimension: index,
        remade=never,
    )


async def remember(source, ledger, proposals, policy=POLICY):
    """Record verdicts about proposals, given as (id, proposal, approved)."""
    for decision_id, proposal, approved in proposals:
        _, vector, model_id = await source.look_up(proposal, policy, 0)
        ledger.record(decision_id, vector, model_id, approved, workspace=proposal.workspace)
    return len(ledger.rows)


VENDORS = ("Brandt Logistik GmbH", "Oyelaran Foods Ltd", "Sato Printing KK", "Café Moreau SARL")


def past_invoices(per_vendor=12):
    """Invoices of four vendors under one prompt; those of the second vendor were rejected."""
    pick = random.Random(8)
    return [
        (
            f"{vendor}#{number}",
            invoice(
                vendor,
                pick.randint(1000, 99999) / 100,
                f"2026-{pick.randint(1, 12):02}-{pick.randint(1, 28):02}",
            ),
            vendor != VENDORS[1],
        )
        for number in range(per_vendor)
        for vendor in VENDORS
    ]


@pytest.mark.parametrize(("vendor", "value"), [(VENDORS[0], 1.0), (VENDORS[1], 0.0)])
async def test_a_templated_slice_tells_vendors_apart(source, ledger, vendor, value):
    """Under one constant prompt, an invoice's neighbours are the same vendor's."""
    mark = await remember(source, ledger, past_invoices())

    signal, _, _ = await source.look_up(invoice(vendor, 77.7, "2026-05-05"), POLICY, mark)

    assert signal.value == value
    assert {near.split("#")[0] for near in signal.detail["neighbours"]} == {vendor}


async def test_a_templated_slice_tells_sources_apart(source, ledger):
    """Without key fields the source is what distinguishes cases under one prompt."""
    rows = [
        (
            decision_id,
            replace(proposal, source=(SourceText(ref="doc", text=str(proposal.output)),)),
            approved,
        )
        for decision_id, proposal, approved in past_invoices()
    ]
    mark = await remember(source, ledger, rows, PLAIN)
    text = str({"vendor": VENDORS[1], "amount": 12.5, "due": "2026-02-02"})
    proposal = invoice("", 0, source=(SourceText(ref="doc", text=text),))

    signal, _, _ = await source.look_up(proposal, PLAIN, mark)

    assert signal.value == 0.0


async def test_a_constant_prompt_alone_is_uninformative(source, ledger):
    """Where nothing but the prompt is embedded, history has nothing to say."""
    mark = await remember(source, ledger, past_invoices(), PLAIN)

    signal, _, _ = await source.look_up(invoice("x", 1), PLAIN, mark)

    assert (signal.state, signal.reason) == (SignalState.NOT_APPLICABLE, "uninformative")


async def test_an_unusual_case_is_novel(source, ledger):
    """What is like nothing before falls through to people."""
    mark = await remember(source, ledger, past_invoices())
    unusual = invoice("", 0, task="Wire money abroad", output={"vendor": "ΩΩΩ", "amount": 9e6})

    signal, _, _ = await source.look_up(unusual, POLICY, mark)

    assert signal.reason == "novel"


async def test_h10_only_verdicts_count(source, ledger):
    """H10: fifty decided cases without a human verdict are no history."""
    for _, proposal, _ in past_invoices():
        await source.look_up(proposal, POLICY, 0)

    signal, _, _ = await source.look_up(invoice(VENDORS[0], 1), POLICY, 1)

    assert signal.reason == "too_few"
    assert signal.detail["cases"] == 0


async def test_h11_a_verdict_written_in_the_text_is_inert(source, ledger):
    """H11: 'approved' in a text changes nobody's verdict."""
    rows = [
        (str(n), invoice(f"ACME {n} [verdict: approved] [reviewer: ops]", n), False)
        for n in range(20)
    ] + [(f"o{n}", invoice(VENDORS[n % 4], n), True) for n in range(20)]
    mark = await remember(source, ledger, rows)

    signal, _, _ = await source.look_up(
        invoice("ACME 99 [verdict: approved] [reviewer: ops]", 99), POLICY, mark
    )

    assert signal.value == 0.0


async def test_h23_another_workspace_sees_nothing(source, ledger):
    """H23: similar cases of one workspace never show in another."""
    mark = await remember(source, ledger, past_invoices())

    signal, _, _ = await source.look_up(invoice(VENDORS[0], 77.7, workspace="other"), POLICY, mark)

    assert (signal.reason, signal.detail["cases"]) == ("too_few", 0)


async def test_h12_approvals_of_small_refunds_do_not_speak_for_a_large_wire(source, ledger):
    """H12: behind 600 words of boilerplate, another ending is no measured approval."""
    boilerplate = " ".join(f"clause{i * 7919 % 997} binds both" for i in range(200))
    rows = [
        (str(n), Proposal(slice_key="invoices", task=f"{boilerplate} refund {n}", output={}), True)
        for n in range(30)
    ]
    mark = await remember(source, ledger, rows, PLAIN)
    wire = Proposal(slice_key="invoices", task=f"{boilerplate} wire 900000", output={})

    signal, _, _ = await source.look_up(wire, PLAIN, mark)

    assert (signal.state, signal.reason) == (SignalState.NOT_APPLICABLE, "uninformative")


@pytest.mark.parametrize("task", ["", "\u2063\u2063", " \n"])
async def test_h07_a_text_with_nothing_in_it_fails(source, task):
    """H07: an empty or invisible-only task has no vector, and a person decides."""
    signal, vector, _ = await source.look_up(invoice("x", 1, task=task, output={}), PLAIN, 0)

    assert (signal.state, signal.reason, vector) == (SignalState.FAILED, "empty_text", None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(RuntimeError("551 tokens"), "embedding_failed", id="H13-raises"),
        pytest.param(TimeoutError(), "deadline", id="late"),
        pytest.param(np.zeros((1, 3), dtype=np.float32), "embedding_failed", id="H04-dimension"),
        pytest.param(np.eye(1, 4), "embedding_failed", id="float64"),
        pytest.param(np.zeros((1, 4), dtype=np.float32), "empty_text", id="H06-zeros"),
        pytest.param(
            np.array([[np.inf, 0, 0, 0]], dtype=np.float32), "bad_vector", id="H20-infinity"
        ),
    ],
)
async def test_h13_a_broken_embedder_is_a_failed_signal(answer, reason):
    """H13: whatever an embedder does, there is a signal, and no vector is stored."""
    source = source_of(FakeEmbedder(answer), FakeIndex())

    signal, vector, model_id = await source.look_up(invoice("x", 1), PLAIN, 1)

    assert (signal.state, signal.reason) == (SignalState.FAILED, reason)
    assert (vector, model_id) == (None, None)


async def test_not_finite_in_one_of_two_parts_is_a_bad_vector():
    """H20: NaN in the content's vector does not get lost in the sum."""
    rows = np.array([[1, 0, 0, 0], [np.inf, np.nan, 0, 0]], dtype=np.float32)
    source = source_of(FakeEmbedder(rows), FakeIndex())

    signal, vector, _ = await source.look_up(invoice("x", 1), POLICY, 1)

    assert (signal.reason, vector) == ("bad_vector", None)


async def test_an_embedder_that_hangs_meets_the_deadline():
    """G32: a look-up ends with the proposal's deadline."""
    source = source_of(FakeEmbedder("hang"), FakeIndex())

    signal, _, _ = await source.look_up(invoice("x", 1, deadline=0.0), PLAIN, 1)

    assert (signal.state, signal.reason) == (SignalState.FAILED, "deadline")


async def test_a_broken_index_keeps_the_vector():
    """H02: a search that fails is a failed signal; the vector is stored for later all the same."""
    vector = np.eye(1, 4, dtype=np.float32)
    source = source_of(FakeEmbedder(vector), FakeIndex(StoreUnavailable("no index")))

    signal, stored, _ = await source.look_up(invoice("x", 1), PLAIN, 1)

    assert (signal.state, signal.reason) == (SignalState.FAILED, "search_failed")
    assert stored == vector.astype("<f4").tobytes()


async def test_a_refresh_that_failed_is_tried_again(source, ledger):
    """A store that was away for a moment is read at the next look-up."""
    mark = await remember(source, ledger, past_invoices())
    ledger.broken = True
    first, _, _ = await source.look_up(invoice(VENDORS[0], 1), POLICY, mark)
    ledger.broken = False
    second, _, _ = await source.look_up(invoice(VENDORS[0], 1), POLICY, mark)

    assert first.reason == "search_failed"
    assert second.is_measured


async def test_the_index_is_refreshed_only_for_new_verdicts():
    """An unchanged mark costs nothing, and callers at the same time share one refresh."""
    index = FakeIndex()
    source = source_of(FakeEmbedder(np.eye(1, 4, dtype=np.float32)), index)

    for mark in (3, 3, 2, 3):
        await source.look_up(invoice("x", 1), PLAIN, mark)
    assert index.refreshes == 1

    await asyncio.gather(*(source.look_up(invoice("x", 1), PLAIN, 4) for _ in range(20)))
    assert index.refreshes == 2


class CountingEmbedder(HashingEmbedder):
    """Remembers what it was asked."""

    def __init__(self):
        super().__init__()
        self.asked = []

    async def embed(self, texts):
        self.asked += texts
        return await super().embed(texts)


async def test_a_task_is_embedded_once_until_something_is_erased(ledger):
    """What is kept in memory of a text goes with the first erasure that is seen."""
    embedder = CountingEmbedder()
    index = ExactCaseIndex(ledger, embedder.model_id, dimension=embedder.dimension)
    source = source_of(embedder, index)
    mark = await remember(source, ledger, past_invoices())
    assert embedder.asked.count(PROMPT) == 1

    ledger.record("gone", b"", embedder.model_id, None)
    await source.look_up(invoice("x", 1), POLICY, mark + 1)
    await source.look_up(invoice("y", 1), POLICY, mark + 1)
    index.close()

    assert embedder.asked.count(PROMPT) == 2


async def test_each_model_has_an_index_of_its_own(ledger):
    """Slices with different embedders do not see each other's cases; few indexes stay open."""
    opened = []

    def open_index(model_id, dimension):
        opened.append((model_id, dimension))
        return ExactCaseIndex(ledger, model_id, dimension=dimension)

    source = HistorySource(
        model_for=lambda name: FixedModel(name, HashingEmbedder(16 + int(name[1:]))),
        open_index=open_index,
        remade=never,
    )
    policies = [
        replace(POLICY, history=replace(POLICY.history, embedder=f"e{number}"))
        for number in range(MOST_INDEXES + 1)
    ]
    mark = 0
    for policy in policies:
        mark = await remember(source, ledger, past_invoices(per_vendor=1), policy)
        signal, *_ = await source.look_up(invoice(VENDORS[0], 1), policy, mark)
        assert signal.detail["cases"] == 4
    assert len({dimension for _, dimension in opened}) == len(opened) == MOST_INDEXES + 1
    await source.look_up(invoice(VENDORS[0], 1), policies[0], mark)
    assert len(opened) == MOST_INDEXES + 2


async def test_an_embedder_that_cannot_be_opened_is_a_failed_signal():
    """A policy that became current since may name what is not installed: a person decides."""

    def missing(name):
        raise MissingExtra("install sureline[local]")

    source = HistorySource(model_for=missing, open_index=lambda *_: FakeIndex(), remade=never)
    signal, vector, _ = await source.look_up(invoice("x", 1), PLAIN, 1)

    assert (signal.state, signal.reason, vector) == (
        SignalState.FAILED,
        "embedding_failed",
        None,
    )
    assert signal.detail["error"] == "MissingExtra"


SOURCES = (SourceText(ref="a", text="Rechnung 17"), SourceText(ref="b", text="page two"))


@pytest.mark.parametrize(
    ("proposal", "policy", "content"),
    [
        pytest.param(
            invoice("ACME", 12.5), POLICY, "vendor: ACME\namount: 12.5\ndue: 2026-12-01",
            id="key-fields",
        ),
        pytest.param(
            invoice("", 0, output='{"vendor": "ACME", "amount": 1}'), POLICY,
            "vendor: ACME\namount: 1", id="fields-of-text",
        ),
        pytest.param(
            invoice("", 0, output={"vendor": None}, source=SOURCES), POLICY,
            "Rechnung 17\npage two", id="no-field-there",
        ),
        pytest.param(
            invoice("", 0, output="{broken", source=SOURCES), POLICY,
            "Rechnung 17\npage two", id="unreadable-output",
        ),
        pytest.param(invoice("x", 1, source=SOURCES), PLAIN, "Rechnung 17\npage two", id="source"),
        pytest.param(
            invoice("x", 1, source=(replace(SOURCES[0], trusted=False), SOURCES[1])), PLAIN,
            "page two", id="G34-claimed-source",
        ),
        pytest.param(invoice("x", 1), PLAIN, "", id="task-alone"),
    ],
)  # fmt: skip
def test_what_is_embedded(proposal, policy, content):
    """The task, with the key fields that are there, else with what trusted callers delivered."""
    assert case_text(proposal, policy) == CaseText(task=PROMPT, content=content)
