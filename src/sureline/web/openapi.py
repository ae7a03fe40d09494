"""Describe the operations as OpenAPI 3.1, from the same table that serves them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from pydantic import TypeAdapter

from sureline.web.api.problem_shape import ProblemShape
from sureline.web.operation import Answer, Operation
from sureline.web.problems import PROBLEM

_REF = "#/components/schemas/{model}"
_SHAPE_MODE = "serialization"
_BODY_MODE = "validation"

_SIGNATURE = tuple(
    {
        "name": name,
        "in": "header",
        "required": True,
        "description": about,
        "schema": {"type": "string", "pattern": pattern},
    }
    for name, pattern, about in (
        (
            "webhook-id",
            "^[A-Za-z0-9_:@/+=-]{1,200}$",
            "The delivery's id, the same when it is sent again.",
        ),
        ("webhook-timestamp", "^[0-9]{1,11}$", "When it was signed, in seconds since 1970."),
        ("webhook-signature", "^v1,", "`v1,` and base64, as Standard Webhooks says."),
    )
)

_ABOUT = {
    400: "The body is no JSON object that can be read one way only; says where.",
    401: "The API key is missing, unknown or revoked; or the signature does not fit.",
    403: "The API key does not allow this.",
    404: "There is no such thing here.",
    405: "The address does not take this method.",
    408: "The body did not arrive in time.",
    409: "It contradicts what is recorded; says how.",
    413: "The body is larger than allowed.",
    415: "The body is not sent as application/json.",
    422: "The fields are not what is expected; names each.",
    429: "Too many requests with this key.",
    500: "Something unforeseen went wrong.",
    503: "The store, the policy or the server's capacity is missing; try again.",
}
_WITH_KEY = frozenset({401, 403, 429, 503})
_SIGNED = frozenset({401, 429})
_WITH_BODY = frozenset({400, 408, 413, 415, 422, 503})


def describe(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the OpenAPI document of `operations`."""
    schemas, shapes = _schemas(operations)
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, shapes)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "sureline",
            "summary": "Decides which outputs of AI agents may act on their own.",
            "version": version("sureline"),
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def problem_statuses(operation: Operation) -> frozenset[int]:
    """Return every status with which the operation can refuse."""
    found = operation.problems | {500}
    if operation.roles:
        found |= _WITH_KEY
    if operation.body is not None:
        found |= _WITH_BODY
    if operation.signed:
        found |= _SIGNED
    return found


def _operation(one: Operation, shapes: dict[tuple[Any, str], Any]) -> dict[str, Any]:
    responses = {str(status): _answer(answer, shapes) for status, answer in one.answers.items()}
    for status in sorted(problem_statuses(one)):
        responses[str(status)] = _problem(status, shapes)
    described: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.about.split(". ")[0].rstrip(".") + ".",
        "description": one.about,
        "parameters": [
            *_path_parameters(one),
            *_query_parameters(one),
            *(_SIGNATURE if one.signed else ()),
        ],
        "responses": responses,
    }
    if one.body is not None:
        described["requestBody"] = {
            "required": not one.may_be_empty,
            "content": {"application/json": {"schema": shapes[one.body, _BODY_MODE]}},
        }
    if one.roles:
        described["security"] = [{"key": []}]
        described["x-roles"] = sorted(one.roles)
    return described


def _answer(answer: Answer, shapes: dict[tuple[Any, str], Any]) -> dict[str, Any]:
    schema = {"type": "string"} if answer.shape is str else shapes[answer.shape, _SHAPE_MODE]
    return {"description": answer.about, "content": {answer.media_type: {"schema": schema}}}


def _problem(status: int, shapes: dict[tuple[Any, str], Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "description": _ABOUT.get(status, HTTPStatus(status).phrase),
        "content": {PROBLEM.decode(): {"schema": shapes[ProblemShape, _SHAPE_MODE]}},
    }
    if status in {429, 503}:
        described["headers"] = {
            "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}
        }
    return described


def _path_parameters(one: Operation) -> Iterable[dict[str, Any]]:
    for step in one.path.split("/"):
        if step.startswith("{"):
            yield {
                "name": step.strip("{}"),
                "in": "path",
                "required": True,
                "schema": {"type": "string", "minLength": 1, "maxLength": 200},
            }


def _query_parameters(one: Operation) -> Iterable[dict[str, Any]]:
    for query in one.query:
        yield {
            "name": query.name,
            "in": "query",
            "required": False,
            "description": query.about,
            "schema": query.schema,
        }


def _schemas(
    operations: Sequence[Operation],
) -> tuple[dict[str, Any], dict[tuple[Any, str], Any]]:
    """Return the named schemas, and a reference to each by type and direction."""
    wanted: dict[tuple[Any, str], TypeAdapter[Any]] = {
        (ProblemShape, _SHAPE_MODE): TypeAdapter(ProblemShape)
    }
    for one in operations:
        if one.body is not None:
            wanted[one.body, _BODY_MODE] = TypeAdapter(one.body)
        for answer in one.answers.values():
            if answer.shape is not str:
                wanted[answer.shape, _SHAPE_MODE] = TypeAdapter(answer.shape)
    inputs: list[Any] = [
        (f"{kind.__name__}:{mode}", mode, adapter) for (kind, mode), adapter in wanted.items()
    ]
    references, document = TypeAdapter.json_schemas(inputs, ref_template=_REF)
    by_type = {
        (kind, mode): references[f"{kind.__name__}:{mode}", mode]  # type: ignore[index]
        for kind, mode in wanted
    }
    return document.get("$defs", {}), by_type
