"""The keys of a policy's action classes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sureline.adapters.policies.setting import Settings, setting


class ActionClassSettings(Settings):
    """A kind of action."""

    stakes: Literal["reversible", "high_cost", "irreversible"] = setting(
        ...,
        expected="reversible, high_cost or irreversible",
        meaning="How bad a wrong action is. The last two are high stakes.",
    )
    human: Literal["always", "by_confidence"] | None = setting(
        None,
        expected="always or by_confidence",
        meaning="`always` keeps it with people for ever. By default `always` for high stakes; "
        "irreversible actions admit nothing else.",
    )

    approvals: Annotated[int, Field(ge=1, le=5)] = setting(
        1,
        expected="a whole number from 1 to 5",
        meaning="How many different people must approve, at least; the slice may ask for more.",
    )

    @property
    def always_human(self) -> bool:
        """Tell whether a person decides whatever the confidence."""
        return self.human == "always" or (self.human is None and self.stakes != "reversible")

    @model_validator(mode="after")
    def _irreversible_is_human(self) -> ActionClassSettings:
        if self.stakes == "irreversible" and not self.always_human:
            raise ValueError("irreversible actions are never automated; write human: always")
        return self
