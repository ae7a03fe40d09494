"""Count sentences and pick the words that carry a text."""

from __future__ import annotations

import re
from itertools import islice

from sureline.core.checks.folding import fold_presentation

MAX_KEYWORDS = 200
"""So many keywords are taken from a task; bounds the time."""

# A full stop before a lower-case word is an abbreviation; CJK stops need no space. The look-behind
# and the possessive runs keep the time linear on long runs of stops.
_END = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?=\s|$)(?!\s++[a-zà-öø-ÿ])|[。！？｡]++[」』”）]*+"
)
_INITIAL = re.compile(r"(?:^|[\s(])(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|vs|approx)\.$")
_QUOTED = re.compile(r"[\"“「«]([^\"“”「」«»]{2,80})[\"”」»]")
_WORD = re.compile(r"[^\W\d_]{4,}")
_COMMON = frozenset(
    [
        "about",
        "above",
        "after",
        "again",
        "against",
        "also",
        "answer",
        "because",
        "been",
        "before",
        "being",
        "below",
        "between",
        "both",
        "could",
        "describe",
        "does",
        "doing",
        "down",
        "draft",
        "during",
        "each",
        "every",
        "explain",
        "find",
        "following",
        "from",
        "further",
        "give",
        "given",
        "have",
        "having",
        "here",
        "into",
        "just",
        "list",
        "make",
        "more",
        "most",
        "must",
        "need",
        "only",
        "other",
        "ourselves",
        "over",
        "please",
        "provide",
        "question",
        "same",
        "should",
        "show",
        "some",
        "such",
        "summarise",
        "summarize",
        "summary",
        "tell",
        "text",
        "than",
        "that",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "through",
        "under",
        "until",
        "using",
        "very",
        "want",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "with",
        "within",
        "without",
        "would",
        "write",
        "your",
    ]
)


def count_sentences(text: str) -> int:
    """Count sentences: runs that end with a stop, and a last run with a word and no stop."""
    count, start, worded = 0, 0, False
    for end in _END.finditer(text):
        worded = worded or _has_word(text[start : end.end()])
        start = end.end()
        if worded and not _INITIAL.search(text[max(0, start - 12) : start]):
            count, worded = count + 1, False
    return count + (worded or _has_word(text[start:]))


def _has_word(text: str) -> bool:
    return any(map(str.isalnum, text))


def task_keywords(task: str) -> tuple[tuple[str, ...], bool]:
    """Return the keywords of a task, folded, and whether each one is needed.

    Phrases that the task puts in quotation marks are needed, each. Without any, the words of four
    letters or more that are not common ones are returned; half of them are enough.
    """
    quoted = tuple(dict.fromkeys(map(fold_presentation, _QUOTED.findall(task))))
    if quoted:
        return quoted[:MAX_KEYWORDS], True
    words = dict.fromkeys(_WORD.findall(fold_presentation(task)))
    chosen = (word for word in words if word not in _COMMON)
    return tuple(islice(chosen, MAX_KEYWORDS)), False
