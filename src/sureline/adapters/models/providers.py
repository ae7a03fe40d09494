"""Which providers the installed library knows (extra `models`)."""

from __future__ import annotations

import difflib
from typing import get_args

from sureline.adapters.models.connections import SHARED_HTTP


def provider_fault(provider: str) -> str | None:
    """Return why no model of a provider can be made, None where nothing speaks against it.

    Nothing is asked over the network and no key is looked for. Raises ImportError where the
    library itself is not installed.
    """
    from pydantic_ai.models import KnownModelName
    from pydantic_ai.providers import infer_provider_class

    try:
        infer_provider_class(provider)
    except ImportError as error:
        return f"what the provider {provider!r} needs is not installed (no module {error.name!r})"
    except ValueError:
        names = get_args(KnownModelName.__value__)
        known = SHARED_HTTP | {name.partition(":")[0] for name in names if ":" in name}
        near = difflib.get_close_matches(provider.lower(), sorted(known), n=2, cutoff=0.7)
        meant = f"; did you mean {' or '.join(near)}?" if near else ""
        return f"the installed library knows no provider {provider!r}{meant}"
    return None
