"""Bad requests: each is refused with its status and code, and nothing is written."""

from __future__ import annotations

import asyncio
import json
import socket
from urllib.parse import urlsplit

import httpx
import pytest

from tests.web.served import AGENT, Served

GOOD = {"slice_key": "invoices", "task": "t", "output": {"total": 1}}


def with_(**fields: object) -> bytes:
    return json.dumps({**GOOD, **fields}).encode()


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in GOOD.items() if key != name}).encode()


BAD = {
    "empty body": (b"", 400, "invalid_json", None),
    "cut off": (b'{"slice_key": "inv', 400, "invalid_json", None),
    "not JSON": (b"slice_key=invoices", 400, "invalid_json", None),
    "single quotes": (b"{'slice_key': 1}", 400, "invalid_json", None),
    "comment": (b"{} // fine", 400, "invalid_json", None),
    "two documents": (b"{} {}", 400, "invalid_json", None),
    "a list": (b"[]", 422, "not_an_object", None),
    "a number": (b"1", 422, "not_an_object", None),
    "null": (b"null", 422, "not_an_object", None),
    "NaN": (b'{"self_report": NaN}', 400, "non_finite", None),
    "infinity": (b'{"self_report": -Infinity}', 400, "non_finite", None),
    "too large a float": (b'{"self_report": 1e999}', 400, "non_finite", None),
    "5000 digits": (b'{"self_report": ' + b"9" * 5000 + b"}", 400, "number_too_long", None),
    "duplicate key": (b'{"task": "a", "task": "b"}', 400, "duplicate_key", None),
    "nested duplicate": (b'{"output": {"a": 1, "a": 2}}', 400, "duplicate_key", None),
    "byte-order mark": (b"\xef\xbb\xbf{}", 400, "bom", None),
    "not UTF-8": (b'{"task": "\xff\xfe"}', 400, "invalid_unicode", None),
    "UTF-16": ('{"task": "t"}'.encode("utf-16"), 400, "invalid_unicode", None),
    "lone surrogate": (b'{"task": "\\ud800"}', 400, "invalid_unicode", "task"),
    "deep": (b'{"output": ' + b"[" * 100 + b"]" * 100 + b"}", 400, "too_deep", None),
    "very deep": (b"[" * 1_000_000, 400, "too_deep", None),
    "too large": (with_(output="x" * 2_200_000), 413, "too_large", None),
    "no slice": (without("slice_key"), 422, "invalid_input", "slice_key"),
    "no task": (without("task"), 422, "invalid_input", "task"),
    "no output": (without("output"), 422, "invalid_input", "output"),
    "unknown slice": (with_(slice_key="payroll"), 422, "unknown_slice", "slice_key"),
    "unknown field": (with_(approve=True), 422, "invalid_input", "approve"),
    "attempt is the server's": (with_(attempt=1), 422, "invalid_input", "attempt"),
    "workspace is the key's": (with_(workspace="b"), 422, "invalid_input", "workspace"),
    "slice of another type": (with_(slice_key=1), 422, "invalid_input", "slice_key"),
    "empty slice": (with_(slice_key=""), 422, "invalid_input", "slice_key"),
    "task null": (with_(task=None), 422, "invalid_input", "task"),
    "id too long": (with_(id="i" * 201), 422, "invalid_input", "id"),
    "force_human as text": (with_(force_human="no"), 422, "invalid_input", "force_human"),
    "stakes unknown": (with_(stakes="none"), 422, "invalid_input", "stakes"),
    "deadline negative": (with_(deadline=-1), 422, "invalid_input", "deadline"),
    "deadline true": (with_(deadline=True), 422, "invalid_input", "deadline"),
    "source as number": (with_(source=5), 422, "invalid_input", None),
    "source vouches for itself": (
        with_(source=[{"ref": "r", "text": "t", "trusted": True}]),
        422,
        "invalid_input",
        None,
    ),
    "metadata a list": (with_(metadata=[]), 422, "invalid_input", "metadata"),
}


@pytest.mark.parametrize(("body", "status", "code", "field"), BAD.values(), ids=BAD.keys())
def test_a_bad_body_is_refused(
    shared: Served, body: bytes, status: int, code: str, field: str | None
) -> None:
    """Each has its status and code as problem details, and the server answers on."""
    answer = shared.call(
        "POST", "/v1/decisions", content=body, headers={"content-type": "application/json"}
    )
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["status"]) == (status, code, status)
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["type"] == f"urn:sureline:problem:{code}"
    assert problem["title"]
    assert problem["detail"]
    if field is not None:
        assert problem["field"] == field
    assert shared.call("GET", "/healthz", None).status_code == 200


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b'{\n  "task": tru}', "line 2 column 11"),
        (b'{"task": 1,\n "task": 2}', "line 2 column 2"),
        (b'{"a": [1, NaN]}', "line 1 column 11"),
        (b'{"task": "\xff"}', "Byte 10"),
        (b"\xef\xbb\xbf{}", "character 0"),
        (b'{"output": ' + b"[" * 100, "line 1 column 75"),
    ],
    ids=["syntax", "duplicate", "NaN", "UTF-8", "BOM", "depth"],
)
def test_the_position_is_named(shared: Served, body: bytes, where: str) -> None:
    """Whoever sent it can find the spot."""
    assert where in shared.call("POST", "/v1/decisions", content=body).json()["detail"]


def test_a_problem_never_quotes_the_payload(shared: Served) -> None:
    """What was sent does not come back in an error."""
    answer = shared.call("POST", "/v1/decisions", content=with_(source=["s3cret-text"], task=7))
    assert answer.status_code == 422
    assert "s3cret" not in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "application/json", "content-encoding": "gzip"}, 415),
        ({"content-type": "application/json; charset=utf-8"}, 201),
        ({"content-type": "APPLICATION/JSON"}, 201),
        ({"content-type": "application/vnd.mine+json"}, 201),
    ],
)
def test_only_json_is_read(shared: Served, headers: dict[str, str], status: int) -> None:
    """Another media type or an encoded body is refused before it is parsed."""
    answer = shared.call("POST", "/v1/decisions", content=with_(), headers=headers)
    assert answer.status_code == status


def test_the_same_id_with_other_content_is_a_conflict(shared: Served) -> None:
    """An id stands for one content (G30)."""
    assert shared.decide(id="taken").status_code == 201
    answer = shared.decide(id="taken", output={"total": 13})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_refused_requests_write_nothing(shared: Served) -> None:
    """After a refusal there is no decision under the id."""
    shared.call("POST", "/v1/decisions", content=with_(id="never", approve=True))
    assert asyncio.run(shared.services.ledger.decision("default", "never")) is None


def test_a_body_that_grows_beyond_the_limit_is_cut_off(shared: Served) -> None:
    """Without a stated length the limit holds while receiving, not at the end."""
    sent = 0

    def endless():  # type: ignore[no-untyped-def]
        nonlocal sent
        while sent < 50_000_000:
            sent += 65_536
            yield b" " * 65_536

    with shared.client(AGENT) as client:
        try:
            answer = client.post("/v1/decisions", content=endless())
            assert answer.status_code == 413
        except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
            pass  # the server hung up on what was still being sent
    assert sent < 50_000_000
    assert shared.call("GET", "/healthz", None).status_code == 200


def test_nobody_unknown_has_a_body_read(shared: Served) -> None:
    """Without a key the answer is 401, whatever the body would have been."""
    answer = shared.call("POST", "/v1/decisions", None, content=b"[" * 1000)
    assert answer.status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/v1", 404, "not_found"),
        ("GET", "/v1/decisions/", 404, "not_found"),
        ("POST", "/v1/decisions/", 404, "not_found"),
        ("GET", "/v1/decisions/none", 404, "not_found"),
        ("GET", "/v1/decisions/%ff", 404, "not_found"),
        ("GET", "/v1/decisions/none/review", 404, "not_found"),
        ("POST", "/v1/decisions/none/consume", 404, "not_found"),
        ("GET", "/v1/decisions", 405, "method_not_allowed"),
        ("DELETE", "/v1/decisions/none", 405, "method_not_allowed"),
        ("PATCH", "/v1/switches", 405, "method_not_allowed"),
        ("TRACE", "/healthz", 405, "method_not_allowed"),
    ],
)
def test_unknown_addresses_and_methods_are_problems_too(
    shared: Served, method: str, path: str, status: int, code: str
) -> None:
    """404 and 405 are problem details; 405 says what is allowed."""
    answer = shared.call(method, path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert ("allow" in answer.headers) == (status == 405)


@pytest.mark.parametrize("wait", ["nan", "inf", "-1", "61", "soon", "", "1e400", "%ff"])
def test_a_bad_wait_is_refused(shared: Served, wait: str) -> None:
    """A waiting time that is none is an error, not for ever and not zero."""
    made = shared.decide().json()["id"]
    answer = shared.call("GET", f"/v1/decisions/{made}/review?wait={wait}")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")


def test_rubbish_on_the_wire_is_survived(shared: Served) -> None:
    """What is not HTTP gets an error or a closed connection; others are served on."""
    host, port = urlsplit(shared.url).hostname, urlsplit(shared.url).port
    for rubbish in (b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n", b"\x00"):
        with socket.create_connection((host, port), timeout=5) as raw:
            raw.sendall(rubbish)
            raw.shutdown(socket.SHUT_WR)
            raw.recv(4096)
    assert shared.call("GET", "/healthz", None).status_code == 200
