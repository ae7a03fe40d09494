"""What of a schema is sent to a provider."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureline.adapters.models.connections import make_model, open_http
from sureline.adapters.models.plain_schema import plain_schema
from sureline.adapters.models.question import question_of
from sureline.application.ports.models import Asking, ModelLimits
from sureline.core.opinions.evaluation_prompt import reply_schema
from sureline.core.opinions.verdict_reply import SCHEMA
from tests.adapters.models.conftest import prompt
from tests.model_servers import WIRES, ModelServer


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


NUMBER = {"type": "number"}


@pytest.mark.parametrize(
    "schema",
    [SCHEMA, reply_schema(["a", "b"]), closed(a=closed(b={"type": "array", "items": NUMBER}))],
    ids=["verdict", "evaluation", "nested"],
)
def test_our_own_forms_are_sent_whole(schema: dict[str, Any]) -> None:
    """Nothing of what we ask for has to be left out."""
    assert plain_schema(schema) == schema


def test_limits_on_values_are_left_out() -> None:
    """Who reads the reply checks them; a provider may refuse the whole question over one."""
    limited = closed(a={"type": "number", "minimum": 0}, b={"type": "string", "pattern": "^x"})
    assert plain_schema(limited) == closed(a=NUMBER, b={"type": "string"})
    assert plain_schema({**closed(a=NUMBER), "title": "T", "$schema": "s"}) == closed(a=NUMBER)


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({}, id="empty"),
        pytest.param(NUMBER, id="no object"),
        pytest.param({"type": "object"}, id="open object"),
        pytest.param({**closed(a=NUMBER), "additionalProperties": NUMBER}, id="any keys"),
        pytest.param({**closed(a=NUMBER), "required": ["b"]}, id="required but not named"),
        pytest.param({**closed(a=NUMBER), "required": "a"}, id="required of another type"),
        pytest.param(closed(a={"$ref": "#"}), id="reference"),
        pytest.param(closed(a={"type": ["string", "null"]}), id="list of types"),
        pytest.param(closed(a={"type": "array"}), id="array of anything"),
        pytest.param(closed(a={"enum": [1, "a"]}), id="enum without a type"),
        pytest.param(closed(a={"type": "string", "enum": []}), id="empty enum"),
        pytest.param(closed(a={"type": "integer", "enum": [1]}), id="enum of numbers"),
        pytest.param(closed(a={"anyOf": []}), id="any of nothing"),
        pytest.param(closed(a=True), id="a schema that is true"),
        pytest.param({"type": "object", "properties": [NUMBER]}, id="properties of another type"),
    ],
)
def test_what_some_provider_does_not_take_is_not_sent(schema: dict[str, Any]) -> None:
    """The model is asked in words alone."""
    assert plain_schema(schema) is None


def test_a_schema_without_end_is_not_sent() -> None:
    """Not even where it contains itself."""
    endless = closed(a=NUMBER)
    endless["properties"]["a"] = endless
    assert plain_schema(endless) is None


nodes = st.recursive(
    st.sampled_from(
        [NUMBER, {"type": "null"}, {"type": "string", "enum": ["x", "y"], "maxLength": 3}]
    ),
    lambda inner: (
        st.builds(lambda one: {"type": "array", "items": one, "maxItems": 3}, inner)
        | st.builds(lambda some: {"anyOf": some}, st.lists(inner, min_size=1, max_size=3))
        | st.dictionaries(st.sampled_from("abc"), inner, min_size=1).map(lambda of: closed(**of))
    ),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def models() -> Any:
    with pytest.MonkeyPatch.context() as patch, ModelServer() as server:
        server.use(patch)
        http = open_http()
        yield [make_model(wire.model, http) for wire in WIRES]


@settings(max_examples=60, deadline=None)
@given(schema=st.dictionaries(st.sampled_from("xyz"), nodes, min_size=1))
def test_what_is_sent_is_taken_by_every_library(models: list[Any], schema: dict[str, Any]) -> None:
    """No library fails or warns over a plain schema, and none is changed under our hands."""
    given_schema = closed(**schema)
    before = copy.deepcopy(given_schema)
    for model in models:
        asking = Asking(model="m", schema=given_schema)
        question = question_of(model, prompt(), asking, seconds=ModelLimits().seconds)
        assert question.parameters.output_mode == "native"
        model.prepare_request(question.settings, question.parameters)
    assert given_schema == before
