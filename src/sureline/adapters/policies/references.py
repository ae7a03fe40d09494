"""The files that a policy names become part of it: JSON Schemas and deductions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sureline.adapters.policies.deduction_weight import warn_if_weak
from sureline.adapters.policies.deductions_file import checked_deductions, read_deductions_file
from sureline.adapters.policies.faults import Faults
from sureline.adapters.policies.settings import SliceSettings
from sureline.adapters.policies.tree import Node
from sureline.adapters.policies.yaml_reader import decoded
from sureline.core.canonical import canonical_json
from sureline.core.checks.schema import compile_schema
from sureline.core.values.strict_json import strict_json
from sureline.errors import InvalidInput, PolicyError


class References:
    """Reads the files that one policy names, relative to `folder`; None admits no files."""

    def __init__(self, folder: Path | None, faults: Faults) -> None:
        self._folder = folder
        self._faults = faults
        self._tried: set[Path] = set()

    @property
    def tried(self) -> tuple[Path, ...]:
        """Return the files that were looked at, whether or not they could be read."""
        return tuple(sorted(self._tried))

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
            if modes is not None:
                warn_if_weak(where, settings, modes, self._faults)
            evaluation = evaluation.model_copy(update={"deductions": modes})
            settings = settings.model_copy(update={"self_evaluation": evaluation})
        return settings

    def _text(self, where: Node, name: str) -> tuple[str, str] | None:
        if self._folder is None:
            self._faults.add(where, f'the file "{name}" cannot be read here; put its content here')
            return None
        path = self._folder / name
        self._tried.add(path)
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
                given = strict_json(text)
            except ValueError as error:
                self._faults.add(where, f"the file {about} is not JSON: {error}")
                return None
        fault = schema_fault(given)
        if fault is not None:
            self._faults.add(where, f"{about} is not a JSON Schema that can be used: {fault}")
        return given

    def _deductions(self, where: Node, given: object) -> list[dict[str, Any]] | None:
        if not isinstance(given, str):
            return checked_deductions(where, self._faults)
        found = self._text(where, given)
        return None if found is None else read_deductions_file(*found, self._faults)


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
