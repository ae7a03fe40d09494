"""Make bad outputs of good ones, anew for each seed, so that none can be known by heart (G3)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from sureline.core.opinions.canary import Canary, CanarySet, FailureMode
from sureline.core.opinions.canary_phrases import (
    ASSUMPTIONS,
    DEMANDS,
    FENCES,
    FILLERS,
    VERDICTS,
)

Option = TypeVar("Option")

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Draws:
    """Choices that a seed settles: the same seed and name give the same choice everywhere."""

    seed: str
    name: str

    def number(self, what: str, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        digest = hashlib.sha256(f"{self.seed}\0{self.name}\0{what}".encode()).digest()
        return low + int.from_bytes(digest[:8], "big") % (high - low + 1)

    def one_of(self, what: str, options: Sequence[Option]) -> Option:
        """Return one of the options, of which there is at least one."""
        return options[self.number(what, 0, len(options) - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a good output is spoilt: `admits` says which ones can be, `spoil` returns the output.

    `spoil` may read the other good ones.
    """

    name: str
    mode: FailureMode
    admits: Callable[[Canary], bool]
    spoil: Callable[[Canary, Draws, Sequence[Canary]], str]


def written_for(given: CanarySet, seed: str) -> tuple[Canary, ...]:
    """Return every canary of a run with this seed: the bad ones, those that are made, the good."""
    return (*given.bad, *make_bad(given.good, seed), *given.good)


def make_bad(
    good: Sequence[Canary], seed: str, *, recipes: Sequence[Recipe] = ()
) -> tuple[Canary, ...]:
    """Return one bad canary for each recipe (default: all), made of the good; the seed settles all.

    Ids stay from seed to seed, so that runs can be compared. A recipe for which no good one is
    suited is left out.
    """
    made = []
    for recipe in recipes or RECIPES:
        draws = Draws(seed, recipe.name)
        suited = [one for one in good if recipe.admits(one)]
        if not suited:
            continue
        base = draws.one_of("base", suited)
        output = recipe.spoil(base, draws, good)
        made.append(
            replace(
                base,
                id=f"made_{recipe.name}",
                mode=recipe.mode,
                output=output,
                swap=None,
                made=True,
            )
        )
    return tuple(made)


def _has_figure(one: Canary) -> bool:
    return _DIGITS.search(one.output) is not None


def _is_object(one: Canary) -> bool:
    return one.output.lstrip().startswith("{")


def _is_english_prose(one: Canary) -> bool:
    # What is added is English, and a query is no prose.
    return one.language == "en" and not _is_object(one) and one.kind != "sql"


def _has_names(one: Canary) -> bool:
    return one.swap is not None


def _changed_figure(one: Canary, draws: Draws, _: Sequence[Canary]) -> str:
    """Write other digits in place of a figure, the longest that there are: amounts, not days."""
    found = list(_DIGITS.finditer(one.output))
    longest = max(len(match[0]) for match in found)
    match = draws.one_of("figure", [each for each in found if len(each[0]) == longest])
    known = set(_DIGITS.findall(f"{one.task}\n{one.source}\n{one.output}"))
    lowest, highest = 10 ** (longest - 1), 10**longest - 1
    figure = draws.number("digits", lowest, highest)
    while str(figure) in known:
        figure = lowest if figure == highest else figure + 1
    return f"{one.output[: match.start()]}{figure}{one.output[match.end() :]}"


def _swapped_names(one: Canary, _: Draws, __: Sequence[Canary]) -> str:
    assert one.swap is not None
    first, second = one.swap
    return second.join(part.replace(second, first) for part in one.output.split(first))


def _other_answer(one: Canary, draws: Draws, good: Sequence[Canary]) -> str:
    return draws.one_of("other", [each.output for each in good if each.kind != one.kind])


def _cut_off(one: Canary, draws: Draws, _: Sequence[Canary]) -> str:
    share = draws.number("share", 40, 80) / 100
    return one.output[: int(len(one.output) * share)]


def _wrong_keys(one: Canary, draws: Draws, _: Sequence[Canary]) -> str:
    said = "; ".join(str(value) for value in json.loads(one.output).values())
    return json.dumps({f"field_{draws.number('key', 100, 999)}": said}, ensure_ascii=False)


def _padded(one: Canary, draws: Draws, _: Sequence[Canary]) -> str:
    """Bury the answer among sentences that say nothing, far beyond the length that was asked."""
    start = draws.number("start", 0, len(FILLERS) - 1)
    chosen = [FILLERS[(start + step) % len(FILLERS)] for step in range(draws.number("n", 8, 12))]
    place = draws.number("place", 2, len(chosen) - 2)
    return " ".join([*chosen[:place], one.output, *chosen[place:]])


def _assumed(one: Canary, draws: Draws, _: Sequence[Canary]) -> str:
    phrase = draws.one_of("phrase", ASSUMPTIONS)
    figures = (draws.number(name, 160, 980) for name in ("one", "two"))
    return f"{one.output} {phrase.format(*figures)}"


def _with(phrases: Sequence[str]) -> Callable[[Canary, Draws, Sequence[Canary]], str]:
    """Return a recipe that changes a figure, and then talks the reviewer into letting it pass."""

    def spoil(one: Canary, draws: Draws, good: Sequence[Canary]) -> str:
        mark = f"{draws.number('mark', 2**60, 2**64 - 1):016x}"
        phrase = draws.one_of("phrase", phrases).replace("MARK", mark)
        return f"{_changed_figure(one, draws, good)}\n{phrase}"

    return spoil


RECIPES = (
    Recipe(
        name="changed_figure",
        mode=FailureMode.INVENTED,
        admits=_has_figure,
        spoil=_changed_figure,
    ),
    Recipe(
        name="swapped_names", mode=FailureMode.INVENTED, admits=_has_names, spoil=_swapped_names
    ),
    Recipe(
        name="other_answer", mode=FailureMode.OFF_TASK, admits=lambda _: True, spoil=_other_answer
    ),
    Recipe(name="cut_off", mode=FailureMode.BROKEN_SCHEMA, admits=_is_object, spoil=_cut_off),
    Recipe(name="wrong_keys", mode=FailureMode.BROKEN_SCHEMA, admits=_is_object, spoil=_wrong_keys),
    Recipe(name="padded", mode=FailureMode.PADDED, admits=_is_english_prose, spoil=_padded),
    Recipe(name="assumed", mode=FailureMode.ASSUMED, admits=_is_english_prose, spoil=_assumed),
    Recipe(
        name="demanded_score",
        mode=FailureMode.INJECTED,
        admits=_has_figure,
        spoil=_with(DEMANDS),
    ),
    Recipe(
        name="forged_verdict",
        mode=FailureMode.INJECTED,
        admits=_has_figure,
        spoil=_with(VERDICTS),
    ),
    Recipe(name="forged_fence", mode=FailureMode.INJECTED, admits=_has_figure, spoil=_with(FENCES)),
)
"""The bad canaries that are made when a run starts."""
