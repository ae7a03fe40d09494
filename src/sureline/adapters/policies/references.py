"""The files that a policy names become part of it: JSON Schemas and deductions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sureline.adapters.policies.explain import validated
from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.model_settings import DeductionsFile
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node
from sureline.adapters.policies.yaml_reader import decoded, read_tree
from sureline.core.canonical import canonical_json
from sureline.core.checks.schema import compile_schema
from sureline.errors import InvalidInput, PolicyError


class References:
    """Reads the files that one policy names, relative to `folder`; None admits no files."""

    def __init__(self, folder: Path | None, faults: Faults) -> None:
        self._folder = folder
        self._faults = faults

    def inline(self, node: Node, settings: SliceSettings) -> SliceSettings:
        """Return the slice with its schema and deductions in full; faults go to the collector."""
        schema = settings.output.json_schema
        if schema is not None:
            where, _ = node.deepest(("output", "json_schema"))
            schema = self._schema(where, schema)
            output = settings.output.model_copy(update={"json_schema": schema})
            settings = settings.model_copy(update={"output": output})
        evaluation = settings.self_evaluation
        if evaluation is not None:
            where, _ = node.deepest(("self_evaluation", "deductions"))
            modes = self._deductions(where, evaluation.deductions)
            evaluation = evaluation.model_copy(update={"deductions": modes})
            settings = settings.model_copy(update={"self_evaluation": evaluation})
        return settings

    def _text(self, where: Node, name: str) -> tuple[str, str] | None:
        if self._folder is None:
            self._faults.add(where, f'the file "{name}" cannot be read here; put its content here')
            return None
        path = self._folder / name
        try:
            return decoded(path.read_bytes(), str(path)), str(path)
        except OSError as error:
            why = error.strerror or type(error).__name__
            self._faults.add(where, f"the file {path} cannot be read: {why}")
        except PolicyError as error:
            self._faults.add(where, f"the file {path} cannot be read: {error}")
        return None

    def _schema(self, where: Node, given: object) -> object:
        about = "the schema"
        if isinstance(given, str):
            found = self._text(where, given)
            if found is None:
                return None
            text, about = found
            try:
                given = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
            except (ValueError, RecursionError) as error:
                self._faults.add(where, f"the file {about} is not JSON: {error}")
                return None
        fault = schema_fault(given)
        if fault is not None:
            self._faults.add(where, f"{about} is not a JSON Schema that can be used: {fault}")
        return given

    def _deductions(self, where: Node, given: object) -> object:
        inner = Faults()
        if isinstance(given, str):
            found = self._text(where, given)
            if found is None:
                return None
            try:
                tree = read_tree(found[0], found[1], inner)
                inner.raise_if_any()
                modes = validated(DeductionsFile, tree, inner)
                inner.raise_if_any()
            except PolicyError as error:
                self._faults.add(where, f"the file {found[1]} cannot be used: {error}")
                return None
        else:
            tree = Node(value={"deductions": where}, place=where.place, path=where.path)
            modes = validated(DeductionsFile, tree, self._faults)
        return None if modes is None else modes.model_dump()["deductions"]


def schema_fault(schema: object) -> str | None:
    """Say why a value is no JSON Schema to check outputs with, or None."""
    if not isinstance(schema, dict):
        return "expected a mapping"
    try:
        canonical_json(schema)
        compile_schema(schema)
    except (InvalidInput, PolicyError) as error:
        return error.message
    return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f'the key "{key}" is there twice')
        found[key] = value
    return found


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is no JSON number")
