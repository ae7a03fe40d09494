"""Check texts: length, sentences, keywords, forbidden patterns, phrases and hosts (G6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sureline.core.checks.folding import fold_presentation
from sureline.core.checks.paths import ABSENT, Path, describe, parse_path, walk
from sureline.core.checks.patterns import Pattern, compile_pattern
from sureline.core.checks.reading import quote
from sureline.core.checks.result import CheckResult, cut
from sureline.core.checks.scripts import without_invisible
from sureline.core.checks.sentences import count_sentences, task_keywords
from sureline.core.checks.tokens import contains_token
from sureline.core.checks.urls import is_under, normal_host, url_hosts
from sureline.core.values.checks import ProseRules
from sureline.core.values.finding import Finding
from sureline.errors import PolicyError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """A text with the views that its checks share."""

    raw: str
    folded: str
    visible: str
    task: str


Condition = Callable[[_Text], list[tuple[str, str]]]
"""Returns code and message of each violation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProseCheck:
    """Compiled prose rules of one text; `path` is None for the whole output."""

    path: Path | None
    penalty: int
    conditions: tuple[Condition, ...]

    def check(self, output: object, task: str) -> tuple[CheckResult, ...]:
        """Return one result per condition; a text that is missing fails them all."""
        texts = list(self._texts(output))
        return tuple(self._result(condition, texts, task) for condition in self.conditions)

    def _texts(self, output: object) -> Iterator[tuple[str | None, object]]:
        if self.path is None:
            yield None, "\n".join(_strings(output))
        else:
            yield from walk(output, self.path)

    def _result(
        self, condition: Condition, texts: list[tuple[str | None, object]], task: str
    ) -> CheckResult:
        failures = []
        for field, value in texts:
            for code, message in _faults(condition, value, task):
                failures.append(
                    Finding(code=code, message=message, field=field, penalty=self.penalty)
                )
        return CheckResult(findings=cut(failures), passed=not failures)


def compile_prose(rules: ProseRules) -> ProseCheck:
    """Compile prose rules. Raises PolicyError for a bad path, pattern or limit."""
    where = f"prose for {rules.field or 'the whole output'}"
    if rules.penalty < 0:
        raise PolicyError(f"{where}: a penalty is 0 or more, got {rules.penalty}")
    _refuse_crossed(where, "sentences", rules.min_sentences, rules.max_sentences)
    _refuse_crossed(where, "length", rules.min_length, rules.max_length)
    return ProseCheck(
        path=None if rules.field is None else parse_path(rules.field),
        penalty=rules.penalty,
        conditions=tuple(_conditions(rules, where)),
    )


def _conditions(rules: ProseRules, where: str) -> Iterator[Condition]:
    if rules.min_sentences is not None or rules.max_sentences is not None:
        yield _within("sentences", count_sentences, rules.min_sentences, rules.max_sentences)
    if rules.min_length is not None or rules.max_length is not None:
        yield _within("characters", len, rules.min_length, rules.max_length)
    for keyword in rules.keywords:
        yield _keyword(keyword)
    if rules.keywords_from_task:
        yield _task_keywords
    for pattern in rules.forbidden_patterns:
        yield _forbidden_pattern(pattern, compile_pattern(pattern, where=where))
    for phrase in rules.forbidden_phrases:
        yield _forbidden_phrase(phrase)
    if rules.forbidden_hosts or rules.allowed_hosts is not None:
        yield _hosts(rules.forbidden_hosts, rules.allowed_hosts)


def _faults(condition: Condition, value: object, task: str) -> list[tuple[str, str]]:
    if value is ABSENT or value is None:
        return [("missing_field", "The text is missing.")]
    if not isinstance(value, str):
        return [("wrong_type", f"Expected text, got {describe(value)}.")]
    visible = without_invisible(value)
    return condition(_Text(raw=value, folded=fold_presentation(value), visible=visible, task=task))


def _within(
    unit: str, measure: Callable[[str], int], low: int | None, high: int | None
) -> Condition:
    def within(text: _Text) -> list[tuple[str, str]]:
        count = measure(text.raw)
        if low is not None and count < low:
            return [(f"too_few_{unit}", f"{count} {unit}, expected at least {low}.")]
        if high is not None and count > high:
            return [(f"too_many_{unit}", f"{count} {unit}, expected at most {high}.")]
        return []

    return within


def _keyword(keyword: str) -> Condition:
    folded = fold_presentation(keyword)

    def has_keyword(text: _Text) -> list[tuple[str, str]]:
        if contains_token(text.folded, folded):
            return []
        return [("keyword_missing", f"The keyword {quote(keyword)} is missing.")]

    return has_keyword


def _task_keywords(text: _Text) -> list[tuple[str, str]]:
    wanted, each = task_keywords(text.task)
    if not wanted:
        return [("keyword_missing", "The task names no keyword to look for.")]
    missing = [word for word in wanted if not contains_token(text.folded, word)]
    if not missing or (not each and 2 * len(missing) <= len(wanted)):
        return []
    listed = ", ".join(quote(word, 40) for word in missing[:10])
    return [("keyword_missing", f"Keywords of the task are missing: {listed}.")]


def _forbidden_pattern(shown: str, compiled: Pattern) -> Condition:
    def lacks_pattern(text: _Text) -> list[tuple[str, str]]:
        # Neither case, widths nor invisible characters are a way around.
        views = (text.raw, text.visible, fold_presentation(text.visible))
        if any(compiled.search(view) for view in views):
            return [("forbidden_pattern", f"The text matches the forbidden {quote(shown)}.")]
        return []

    return lacks_pattern


def _forbidden_phrase(phrase: str) -> Condition:
    folded = fold_presentation(phrase)

    def lacks_phrase(text: _Text) -> list[tuple[str, str]]:
        if contains_token(text.folded, folded) or contains_token(
            fold_presentation(text.visible), folded
        ):
            return [("forbidden_phrase", f"The text holds the forbidden {quote(phrase)}.")]
        return []

    return lacks_phrase


def _hosts(forbidden: tuple[str, ...], allowed: tuple[str, ...] | None) -> Condition:
    bare = [(host, _bare_host(host)) for host in forbidden]

    def has_good_hosts(text: _Text) -> list[tuple[str, str]]:
        faults = []
        for found in url_hosts(text.visible):
            if found.fault is not None:
                faults.append(("url_malformed", f"{quote(found.url)} has {found.fault}."))
            if any(is_under(found.host, host) for host in forbidden):
                faults.append(("url_forbidden", f"{quote(found.url)} is on a forbidden host."))
            elif allowed is not None and not any(is_under(found.host, host) for host in allowed):
                faults.append(("url_not_allowed", f"{quote(found.url)} is not on an allowed host."))
        if not any(code == "url_forbidden" for code, _ in faults):
            named = fold_presentation(text.visible)
            faults.extend(
                ("url_forbidden", f"The text names the forbidden host {host}.")
                for host, pattern in bare
                if pattern.search(named)
            )
        return faults

    return has_good_hosts


def _bare_host(host: str) -> re.Pattern[str]:
    """Compile the search for a host that is named without a scheme."""
    return re.compile(rf"(?<![\w-]){re.escape(normal_host(host))}(?![\w-]|\.\w)")


def _strings(value: object) -> Iterator[str]:
    """Yield all texts of an output, in order; keys are not text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _refuse_crossed(where: str, unit: str, low: int | None, high: int | None) -> None:
    if low is not None and high is not None and low > high:
        raise PolicyError(f"{where}: min_{unit} {low} is more than max_{unit} {high}")
