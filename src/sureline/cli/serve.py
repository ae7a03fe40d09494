"""`sureline serve`: answer over HTTP."""

from __future__ import annotations

import asyncio
import ipaddress
from contextlib import nullcontext
from typing import Annotated

import typer

from sureline.application.company_sign_in import CompanySignIn
from sureline.application.ports.keys import Role
from sureline.bootstrap import (
    Services,
    environment_plugins,
    open_services,
    policy_thread,
    working,
)
from sureline.cli.log_options import LogFormatOption, LogLevelOption, notes
from sureline.cli.options import PolicyOption, StoreOption, WorkspaceOption
from sureline.cli.output import say
from sureline.cli.session import note_upgrade, warn_if_forgetful
from sureline.config import company_sign_in
from sureline.errors import InvalidInput
from sureline.web.log_format import LogFormat, LogLevel


def serve(
    policy: PolicyOption = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0 takes any free one.")
    ] = 8700,
    jobs: Annotated[
        bool,
        typer.Option("--jobs/--no-jobs", help="Run the periodic jobs too (`sureline jobs list`)."),
    ] = True,
    deliver: Annotated[
        bool,
        typer.Option("--deliver/--no-deliver", help="Tell the channels (`sureline outbox`)."),
    ] = True,
    log_format: LogFormatOption = LogFormat.TEXT,
    log_level: LogLevelOption = LogLevel.WARNING,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
) -> None:
    """Answer over HTTP until told to stop, and run the periodic jobs meanwhile.

    A change of the policy file, or of a file that it names, is checked, proposed and told of; it
    holds once somebody activates it.

    On PostgreSQL the jobs and the telling are done by a worker inside this process. Where
    `sureline worker` runs elsewhere, give --no-jobs --no-deliver; deadlines are kept all the same.

    The first start prints an admin key, this once. See docs/reference/http.md.
    """
    from sureline.web.app import create_app
    from sureline.web.log_format import log_to_stderr
    from sureline.web.server import HttpServer, listen
    from sureline.web.settings import ServerSettings

    company = company_sign_in()
    settings = ServerSettings(company=company)
    tell = notes(log_format)
    services = open_services(store, workspace=workspace, plugins=environment_plugins())
    warn_if_forgetful(services, tell)
    note_upgrade(services, tell)
    try:
        asyncio.run(services.prepare(policy))
        is_first_start = asyncio.run(_has_no_key(services))
        if is_first_start and not is_loopback(host):
            raise InvalidInput(
                "there are no API keys yet, so only this machine may connect: make one first with "
                f"`sureline keys create --name you --role admin`, or leave --host {host} out"
            )
        with listen(host, port) as listener:
            # Only now: a key that nobody gets to see would lock everyone out.
            if is_first_start and (secret := asyncio.run(_first_key(services))) is not None:
                say(secret)
                tell("this is the first admin key; it is shown this once: keep it now")
            if company is not None:
                tell(asyncio.run(company_note(services, company)))
            tell(f"listening on http://{_shown(host)}:{listener.getsockname()[1]}")
            log_to_stderr(log_format, log_level)
            with (
                working(services, jobs=jobs, deliver=deliver),
                policy_thread(services, policy, tell) if policy else nullcontext(),
            ):
                HttpServer(create_app(services, settings=settings)).run(sockets=[listener])
    finally:
        services.close()


async def _has_no_key(services: Services) -> bool:
    keys = await services.keys.all(services.workspace)
    return all(key.revoked_at is not None for key in keys)


async def company_note(services: Services, company: CompanySignIn) -> str:
    """Say who comes in how, and who could be two of four eyes."""
    said = (
        f"people sign in by the header {company.header} from {', '.join(sorted(company.proxies))}"
    )
    keys = await services.keys.all(services.workspace)
    deciding = {Role.REVIEWER, Role.ADMIN}
    names = sorted({one.name for one in keys if one.revoked_at is None and one.role in deciding})
    if not names:
        return said
    return (
        f"{said}; these keys can still decide over HTTP, and whoever has one counts as a second "
        f"person: {', '.join(names)}"
    )


async def _first_key(services: Services) -> str | None:
    """Make an admin key and return its secret; None where another server was first."""
    made = await services.keys.create_first(
        name="first admin", role=Role.ADMIN, workspace=services.workspace, at=services.clock.now()
    )
    return None if made is None else made[1]


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach `host`; a name other than localhost is not it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
