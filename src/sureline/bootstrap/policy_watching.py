"""Wire the watching of a policy's files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sureline.adapters.policies.watching import PolicyThread, content_stamp
from sureline.application.policy_watch import PolicyWatch
from sureline.bootstrap.services import Services
from sureline.bootstrap.sources import check_sources


def policy_watch(services: Services, path: Path, tell: Callable[[str], None]) -> PolicyWatch:
    """Return what proposes the policy file whenever it or a file it names changes."""
    return PolicyWatch(
        book=services.policies,
        path=path,
        stamp=content_stamp,
        tell=tell,
        check=lambda policy: check_sources(policy, services.plugins),
    )


def policy_thread(services: Services, path: Path, tell: Callable[[str], None]) -> PolicyThread:
    """Return a thread that looks after the policy file while a server runs."""
    return PolicyThread(policy_watch(services, path, tell))
