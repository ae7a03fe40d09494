"""The description says what the server does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from sureline.application.ports.keys import Role
from sureline.errors import SurelineError
from sureline.web.problems import code_of
from tests.web.served import ADMIN, REVIEWER, Served, serve


@pytest.fixture(scope="module")
def described(shared: Served) -> dict[str, Any]:
    answer: dict[str, Any] = shared.call("GET", "/openapi.json", None).json()
    return answer


def valid(described: dict[str, Any], name: str, value: object) -> bool:
    schema = {"$ref": f"#/components/schemas/{name}", "components": described["components"]}
    return jsonschema_rs.validator_for(schema).is_valid(value)


def test_every_operation_documents_its_errors(described: dict[str, Any]) -> None:
    """Each has 500; with a key also 401, 403, 429, 503; with a body also 400, 413, 415, 422."""
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            statuses = set(operation["responses"])
            wanted = {"500"}
            if "security" in operation:
                wanted |= {"401", "403", "429", "503"}
            if "requestBody" in operation:
                wanted |= {"400", "408", "413", "415", "422"}
            assert wanted <= statuses, (path, method)
            assert operation["operationId"]
            assert operation["summary"]


def test_answers_are_as_described(shared: Served, described: dict[str, Any]) -> None:
    """Decisions, outcomes, reviews, slices, policies and problems match their schemas."""
    made = shared.decide(slice_key="replies", output="Hi.", source="x", self_report=2).json()
    broken = shared.decide(output='{"total": 12345678901234567890').json()
    label = {"decision_id": made["id"], "action": "approve"}
    outcome = shared.call("POST", "/v1/outcomes", REVIEWER, json=label).json()
    answers = {
        "OutcomeShape": outcome,
        "ReviewShape": shared.call("GET", f"/v1/decisions/{made['id']}/review").json(),
        "SlicesShape": shared.call("GET", "/v1/slices").json(),
        "PoliciesShape": shared.call("GET", "/v1/policies", ADMIN).json(),
        "CalibrationShape": shared.call("POST", "/v1/calibrations", ADMIN).json(),
        "CalibrationsShape": shared.call("GET", "/v1/calibrations", ADMIN).json(),
        "ReportShape": shared.call("GET", "/v1/reports/latest", ADMIN).json(),
        "DueAuditsShape": shared.call("GET", "/v1/audits", REVIEWER).json(),
        "LogbookShape": shared.call("GET", "/v1/logbook", ADMIN).json(),
        "SwitchesShape": shared.call("GET", "/v1/switches", ADMIN).json(),
        "HealthShape": shared.call("GET", "/healthz", None).json(),
        "ReadyShape": shared.call("GET", "/readyz", None).json(),
        "ProblemShape": shared.call("GET", "/v1/decisions/none").json(),
    }
    for name, value in (*answers.items(), ("DecisionShape", made), ("DecisionShape", broken)):
        assert valid(described, name, value), name
    for field in described["components"]["schemas"]["DecisionShape"]["required"]:
        assert field in made


def test_every_field_of_a_decision_is_described(shared: Served, described: dict[str, Any]) -> None:
    """Nothing is sent that the description does not name."""
    made = shared.decide(output={"total": 2**60}).json()
    assert set(made) <= set(described["components"]["schemas"]["DecisionShape"]["properties"])
    assert "output_text" in made


def test_metrics_have_bounded_labels(served: Served) -> None:
    """Neither unknown addresses nor unknown slices nor ids become labels."""
    made = served.decide().json()["id"]
    served.call("GET", f"/v1/decisions/{made}")
    served.call("GET", "/v1/secret-scan.php")
    served.call("BREW", "/v1/slices")
    served.decide(slice_key="no-such-slice")
    text = served.call("GET", "/metrics", ADMIN).text
    assert 'sureline_decisions_total{route="auto_approve",slice="invoices"} 1.0' in text
    assert 'path="/v1/decisions/{id}"' in text
    for unwanted in (made, "secret-scan", "BREW", "no-such-slice"):
        assert unwanted not in text


def test_without_a_policy_it_is_not_ready(tmp_path: Path) -> None:
    """A server without a policy is alive but not ready, and decides nothing."""
    with serve(tmp_path, policy=None) as served:
        assert served.call("GET", "/healthz", None).status_code == 200
        for answer in (served.call("GET", "/readyz", None), served.decide()):
            assert (answer.status_code, answer.json()["code"]) == (503, "not_ready")


def test_the_reference_lists_what_is_served(described: dict[str, Any]) -> None:
    """docs/reference/http.md has a row for each operation, with the roles that it takes."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "http.md").read_text("utf-8")
    rows = {}
    for line in page.splitlines():
        if line.startswith(("| `GET", "| `P", "| `DELETE")):
            operation, who = [cell.strip() for cell in line.split("|")[1:3]]
            rows[operation.strip("`").split("?")[0]] = who
    served = {
        f"{method.upper()} {path}": operation.get("x-roles", [])
        for path, operations in described["paths"].items()
        for method, operation in operations.items()
    }
    assert rows.keys() == served.keys()
    for operation, roles in served.items():
        who = {"all": sorted(Role), "anybody": [], "whoever signs": []}.get(rows[operation])
        assert roles == (sorted(rows[operation].split(", ")) if who is None else who), operation


NEVER_ANSWERED = {
    "not_all_decided",
    "delivery_failed",
    "mission_refused",
    "port_taken",
    "other_schema",
}
"""Errors of the library, of the outbox and of starting, and kinds: no request ends in them."""


def _kinds(of: type[SurelineError]) -> Iterator[type[SurelineError]]:
    for kind in of.__subclasses__():
        yield kind
        yield from _kinds(kind)


def test_the_reference_lists_every_code() -> None:
    """docs/reference/http.md names the code of each error that a request can end in, by status."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "http.md").read_text("utf-8")
    rows = {line[2:5]: line for line in page.splitlines() if line[2:5].isdigit()}
    kinds = [kind for kind in _kinds(SurelineError) if kind.__module__.startswith("sureline.")]
    codes = {(code_of(kind.__new__(kind)), str(kind.status)) for kind in kinds}
    missing = {
        code
        for code, status in codes
        if code not in NEVER_ANSWERED | {"unreadable_body"} and f"`{code}`" not in rows[status]
    }
    assert not missing
