"""Every operation, asked as its description says and as it does not, on a real server and store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from requests.auth import AuthBase
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from sureline.web.app import OPERATIONS
from sureline.web.operation import Operation
from sureline.web.settings import ServerSettings
from tests.receivers import SECRET
from tests.web.chatting import signature
from tests.web.prepared import PREPARED, TO_BE_SIGNED, WIDE_POLICY, Prepared, World
from tests.web.served import ADMIN, Served, serve

pytestmark = pytest.mark.slow

EXAMPLES = 10
"""Of each kind and operation."""

HARMLESS = ServerSettings(longest_wait=1e-9)
"""The clock stands still, so whoever waits for a person must not wait at all."""

ACCEPTED = ["2xx", "403", "404", "409", "422"]
"""Well formed is not yet possible: an unknown slice, a policy with a slip, an item that is done."""

NAMES = frozenset({"slice_key", "decision_id", "digest", "items", "review_id", "reviewer"})
"""Fields of bodies that name something that must exist."""


@dataclass(slots=True)
class _Signing(AuthBase):
    """Signs the bytes that are sent, where the headers of a signature say anything."""

    served: Served
    numbers: Iterator[int] = field(default_factory=count)

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if all(request.headers.get(name) for name in TO_BE_SIGNED):
            given = request.body or b""
            body = given.encode() if isinstance(given, str) else given
            delivery, now = f"msg_{next(self.numbers)}", self.served.clock.now()
            request.headers["webhook-id"] = delivery
            request.headers["webhook-timestamp"] = str(int(now.timestamp()))
            request.headers["webhook-signature"] = signature(SECRET, delivery, now, body)
        return request


@dataclass(slots=True)
class Asked:
    """A server, its description as schemathesis reads it, and the means to ask."""

    world: World
    schema: Any
    session: requests.Session

    def send(self, case: Case[Any], prepared: Prepared, *, mixed: bool = False) -> int:
        """Make a request with the prepared key, check the answer, and return its status.

        What was `mixed` may have become right, so it need not be refused. What is signed comes from
        a source: one that nobody named is refused, however well formed its name is.
        """
        refused = [negative_data_rejection] if mixed else []
        unknown = [] if mixed or not prepared.headers else [positive_data_acceptance]
        headers = {}
        if prepared.role is not None:
            headers["Authorization"] = f"Bearer {self.world.served.keys[prepared.role]}"
        answer = case.call_and_validate(
            self.world.served.url,
            session=self.session,
            headers=headers,
            excluded_checks=[*refused, *unknown],
        )
        return int(answer.status_code)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on a store of its own."""
    folder: Path = tmp_path_factory.mktemp("store")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("CHAT_SECRET", SECRET)
        with serve(folder, HARMLESS, policy=WIDE_POLICY) as one:
            yield one


@pytest.fixture(scope="module")
def asked(served: Served) -> Iterator[Asked]:
    """The server's own description, and a session to ask with."""
    config = schemathesis.Config()
    project = config.projects.default
    project.checks.negative_data_rejection.expected_statuses = ["4xx"]
    project.checks.positive_data_acceptance.expected_statuses = ACCEPTED
    project.generation.with_security_parameters = False  # who may is the matter of test_access
    schema = schemathesis.openapi.from_url(f"{served.url}/openapi.json", config=config)
    with requests.Session() as session:
        session.auth = _Signing(served)
        yield Asked(world=World(served=served), schema=schema, session=session)


def test_every_operation_succeeds_as_described(asked: Asked) -> None:
    """Each is answered with 2xx and the described content; who adds one adds what it needs."""
    statuses = {}
    for operation in (found.ok() for found in asked.schema.get_all_operations()):
        prepared = PREPARED.get(operation.label, lambda world: Prepared(role=ADMIN))(asked.world)
        statuses[operation.label] = asked.send(_exactly(operation, prepared), prepared)
    missing = {one: status for one, status in statuses.items() if status // 100 != 2}
    assert not missing, f"tests/web/prepared.py lacks what these need: {missing}"
    assert not PREPARED.keys() - statuses.keys(), "tests/web/prepared.py has rows of no operation"


def _label(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


def _takes_something(operation: Operation) -> bool:
    return operation.body is not None or bool(operation.query) or "{" in operation.path


@pytest.mark.parametrize(
    ("label", "mode"),
    [
        pytest.param(_label(one), mode, id=f"{_label(one)}, {mode.value}")
        for one in OPERATIONS
        for mode in GenerationMode
        if mode.is_positive or _takes_something(one)
    ],
)
def test_whatever_is_sent_is_answered_as_described(
    asked: Asked, label: str, mode: GenerationMode
) -> None:
    """No 5xx; no status, header, type or content but what is described, on things that exist."""
    method, path = label.split()
    prepare = PREPARED.get(label, lambda world: Prepared(role=ADMIN))

    @seed(20_260_105)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data(), case=asked.schema[path][method].as_strategy(generation_mode=mode))
    def ask(data: st.DataObject, case: Case[Any]) -> None:
        prepared = prepare(asked.world)
        mixed = data.draw(st.booleans(), "about things that exist")
        if mixed:
            _mix(data, case, prepared)
        asked.send(case, prepared, mixed=mixed)

    ask()


@pytest.mark.parametrize("label", [_label(one) for one in OPERATIONS])
def test_every_edge_of_the_description_holds(asked: Asked, label: str) -> None:
    """Each limit, missing field, wrong type and other method is answered as described."""
    method, path = label.split()
    generation = asked.schema.config.generation
    cases = asked.schema.iter_coverage_cases(
        asked.schema[path][method],
        generation_modes=list(GenerationMode),
        generation_config=generation,
    )
    for case in cases:
        prepared = PREPARED.get(label, lambda world: Prepared(role=ADMIN))(asked.world)
        asked.send(case, prepared)
        if case.method == method:
            _about(case, prepared)
            asked.send(case, prepared, mixed=True)


def _about(case: Case[Any], prepared: Prepared) -> None:
    """Let a request name things that exist, and leave all else as it is."""
    case.path_parameters = dict(prepared.path)
    if isinstance(case.body, dict) and prepared.body is not None:
        named = {name: one for name, one in prepared.body.items() if name in NAMES}
        case.body = {**case.body, **{name: named[name] for name in named.keys() & case.body}}


def _exactly(operation: Any, prepared: Prepared) -> Case[Any]:
    """Return the prepared request."""
    body = {"body": prepared.body, "media_type": "application/json"} if prepared.body else {}
    path, query = dict(prepared.path), dict(prepared.query)
    headers = dict(prepared.headers)
    made: Case[Any] = operation.Case(path_parameters=path, query=query, headers=headers, **body)
    return made


def _mix(data: st.DataObject, case: Case[Any], prepared: Prepared) -> None:
    """Give a generated request the address and some of the fields of the prepared one."""
    case.path_parameters = dict(prepared.path)
    given_body, body = case.body, prepared.body
    if isinstance(given_body, dict) and isinstance(body, Mapping):
        kept = data.draw(st.sets(st.sampled_from(sorted(body))), "fields as prepared")
        case.body = {**given_body, **{name: body[name] for name in kept}}
