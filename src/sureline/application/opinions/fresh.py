"""Ask models anew, whatever replies are kept: a kept one says nothing about today's model."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sureline.application.ports.models import Asking, ModelClient, Prompt, Reply


@dataclass(frozen=True, slots=True)
class FreshModels:
    """A client that is never answered from what it keeps."""

    client: ModelClient

    async def ask(self, prompt: Prompt, asking: Asking) -> Reply:
        """Return the model's reply; raises what the client raises."""
        return await self.client.ask(prompt, replace(asking, fresh=True))
