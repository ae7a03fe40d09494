"""The only reader of the environment."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sureline.application.company_sign_in import CompanySignIn, read_company_sign_in
from sureline.application.ports.models import ModelLimits
from sureline.core.values.switch import Switch, reads_as_on
from sureline.errors import InvalidInput

FORCE_HUMAN = "SURELINE_FORCE_HUMAN"
SWITCH_FILE = "SURELINE_SWITCH_FILE"
STORE = "SURELINE_STORE"
HEAD_KEY = "SURELINE_HEAD_KEY"
MODEL_SECONDS = "SURELINE_MODEL_SECONDS"
MODEL_CONCURRENCY = "SURELINE_MODEL_CONCURRENCY"
OTEL_DISABLED = "OTEL_SDK_DISABLED"
OTEL_EXPORTER = "OTEL_TRACES_EXPORTER"
OTEL_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
OTEL_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
DEFAULT_STORE = "sqlite:///sureline.db"


def store_url() -> str:
    """Return the store's address: SURELINE_STORE, or a file in the current folder."""
    return os.environ.get(STORE) or DEFAULT_STORE


def variable(name: str) -> str | None:
    """Return a variable that a policy names, such as where a channel's secret stands."""
    return os.environ.get(name) or None


def head_key() -> Path | None:
    """Return the private key that signs heads and evidence: SURELINE_HEAD_KEY, or None."""
    path = os.environ.get(HEAD_KEY)
    return Path(path) if path else None


def company_sign_in() -> CompanySignIn | None:
    """Return how people come in whom a proxy has signed in: SURELINE_TRUSTED_HEADER and others.

    None where none of the variables is set. Raises InvalidInput where they do not go together.
    """
    return read_company_sign_in(os.environ)


def model_limits() -> ModelLimits:
    """Return how models are called: SURELINE_MODEL_SECONDS and SURELINE_MODEL_CONCURRENCY.

    Both are numbers from 1 to 3600, the second a whole one. Raises InvalidInput naming the
    variable.
    """
    usual = ModelLimits()
    concurrency = _number(MODEL_CONCURRENCY, usual.concurrency)
    if concurrency != int(concurrency):
        raise InvalidInput(f"expected a whole number, got {concurrency}", field=MODEL_CONCURRENCY)
    return ModelLimits(seconds=_number(MODEL_SECONDS, usual.seconds), concurrency=int(concurrency))


def trace_exporter() -> str | None:
    """Return how spans are exported by the standard variables: `otlp`, `console`, None: not.

    An address of a collector is asking enough; OTEL_TRACES_EXPORTER=none and OTEL_SDK_DISABLED=true
    are not. The other OTEL_ variables are the SDK's to read. Raises InvalidInput naming the
    variable.
    """
    if os.environ.get(OTEL_DISABLED, "").strip().lower() == "true":
        return None
    has_endpoint = any(os.environ.get(one) for one in OTEL_ENDPOINTS)
    exporter = os.environ.get(OTEL_EXPORTER) or ("otlp" if has_endpoint else "none")
    if exporter not in {"otlp", "console", "none"}:
        raise InvalidInput(f"expected otlp, console or none, got {exporter!r}", field=OTEL_EXPORTER)
    set_protocols = [one for one in OTEL_PROTOCOLS if os.environ.get(one)]
    if exporter == "otlp" and set_protocols:
        name = set_protocols[0]
        if os.environ[name] != "http/protobuf":
            raise InvalidInput(f"expected http/protobuf, got {os.environ[name]!r}", field=name)
    return None if exporter == "none" else exporter


def _number(name: str, usual: float) -> float:
    text = os.environ.get(name)
    if not text:
        return usual
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 1 <= number <= 3600:
        raise InvalidInput(f"expected a number from 1 to 3600, got {text!r}", field=name)
    return number


@dataclass(frozen=True, slots=True)
class EnvironmentSwitch:
    """The kill switch of the environment, read anew at each decision (G29).

    SURELINE_FORCE_HUMAN is on unless it is unset or clearly off (0, false, off, no).
    SURELINE_SWITCH_FILE names a file whose text is read the same way; a file that is absent is
    off, one that is named and cannot be read is on.
    """

    def read(self, workspace: str) -> Sequence[Switch]:
        """Return the switches that are on now."""
        found = []
        if reads_as_on(os.environ.get(FORCE_HUMAN)):
            found.append(_switch(workspace, f"the variable {FORCE_HUMAN} is set"))
        path = os.environ.get(SWITCH_FILE)
        if path:
            why = _file_is_on(Path(path))
            if why:
                found.append(_switch(workspace, why))
        return found


def _file_is_on(path: Path) -> str | None:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return "the switch file is no regular file"  # reading a pipe would block the gate
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        return "the switch file cannot be read"
    return "the switch file says so" if reads_as_on(text) else None


def _switch(workspace: str, reason: str) -> Switch:
    changed_at = datetime.fromtimestamp(0, UTC)
    return Switch(
        workspace=workspace,
        scope="global",
        on=True,
        reason=reason,
        by="environment",
        changed_at=changed_at,
    )
