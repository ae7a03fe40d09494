"""What commands say of the store that they work on."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Run, proposal


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
@pytest.mark.parametrize(
    "command",
    [
        ("decide", "--policy", "policy.yaml"),
        ("policy", "activate", "policy.yaml", "--by", "Ada"),
        ("switch", "on", "--reason", "a test", "--by", "Ada"),
        ("ledger", "verify"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_store_in_memory_is_remarked(command: tuple[str, ...], url: str, started: Run) -> None:
    """Nobody believes that something was kept, and standard output stays as it is."""
    result = started(*command, "--store", url, text=proposal())
    assert result.exit_code in {0, 1}
    assert f"warning: the store {url} is in memory: nothing is kept" in result.stderr
    assert "warning" not in result.stdout


def test_a_store_in_a_file_is_not_remarked(started: Run) -> None:
    """Only what is lost is worth a word."""
    assert "warning" not in started("decide", text=proposal()).stderr
