"""Rows of area 5-approval about display: whatever an agent wrote is text, wherever it is read."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sureline.adapters.reports.html import shown_value
from sureline.cli.app import app
from sureline.cli.output import json_text, visible
from sureline.core.csv_text import csv_text
from sureline.core.hidden_text import LINES, is_hidden
from sureline.core.review.message import message
from sureline.testing import MOMENT
from sureline.web.pages.guarded import POLICY as CONTENT_POLICY
from sureline.web.pages.shown_text import brief, marked, shown
from sureline.web.pages.templates import step
from tests.browser.hostile import TEXTS
from tests.cli.test_cli_terminal import on_terminal
from tests.sending import NOTICE
from tests.web.browsing import Visitor
from tests.web.served import ADMIN, REVIEWER, Served, awaited, serve

Cases = Mapping[str, dict[str, Any]]

POLICY = f"""\
version: 1
action_classes:
  transfer: {{stakes: irreversible}}
slices:
  letters:
    output: {{structured: false}}
    review: {{honeypots: 0, double_review: 0}}
  pay:
    mode: route
    weights: {{verification: 1}}
    output:
      json_schema:
        type: object
        properties: {{total: {{type: number}}}}
    review: {{honeypots: 0, double_review: 0}}
    hypothesis: {{auto: 0.85, allow_uncertified: true, starts: {MOMENT.date()}}}
"""
SMALL = {name: text for name, text in TEXTS.items() if len(text) < 10_000}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serve(tmp_path, policy=POLICY) as one:
        yield one


def submit(served: Served, output: Any, **more: Any) -> str:
    """Submit an output that a person must see."""
    given = {"slice_key": "pay", "task": "pay", "output": output, "force_human": True, **more}
    return str(served.decide(**given).json()["id"])


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [given for name, given in self.found if name == tag]


def elements_of(page: str) -> list[tuple[str, list[str]]]:
    """Return the kinds of a page's elements with the names of their attributes."""
    return [(tag, sorted(given)) for tag, given in Elements(page).found]


def hides(text: str) -> list[str]:
    """Return what hides in a text, line ends apart."""
    return sorted({f"U+{ord(char):04X}" for char in set(text) - LINES if is_hidden(char)})


# Every way on which what an agent wrote comes before a person.
RENDERERS: dict[str, Callable[[str], str]] = {
    "page": lambda text: str(shown(text)),
    "page, marked": lambda text: str(marked(text, ())),
    "page, one line": lambda text: str(brief(text)),
    "terminal": visible,
    "JSON": lambda text: json_text({"text": text}, indent=2),
    "CSV": lambda text: csv_text(["text"], [[text]]).replace("\r\n", "\n"),
    "message": lambda text: message([NOTICE], page=None, shown={"memo": text}).body,
    "report file": lambda text: str(shown_value(text)),
}


def test_a24_the_card_is_enough_to_decide(served: Served) -> None:
    """What changes, why, evidence, stakes and what approving does; rejecting costs as much."""
    made = submit(
        served,
        {"total": 12.5},
        action_class="transfer",
        source=[{"ref": "mail", "text": "Please pay 12.50 EUR."}],
        alternatives=["13"],
    )
    path, visitor = f"/reviews/{made}", Visitor(served)
    before = visitor.get(path).text
    digest = served.call("GET", f"/v1{path}", REVIEWER).json()["review"]["digest"]
    for wanted in (
        'name="field/total" value="12.5"',
        "The call asked for a person.",
        '<mark title="total">12.50</mark>',
        "stands in mail (claimed)",
        "Stakes: <b>irreversible</b>. What is done with it cannot be undone.",
        "Action: transfer.",
        "Approving hands it to the agent, which may do transfer with it.",
        "Rejecting stops it.",
        "<dt>alternatives</dt>",
    ):
        assert wanted in before, wanted
    buttons = {one.get("value"): one for one in Elements(before).of("button")}
    approve, reject = buttons["approve"], buttons["reject"]
    assert len(str(approve["data-key"])) == len(str(reject["data-key"])) == 1
    assert not [one for one in Elements(before).found if "required" in one[1]]
    for act in ("reject", "approve"):  # one press each, with nothing filled in
        one = submit(served, {"total": 1})
        assert visitor.decide(one, act).status_code == 303
    edit = {"action": "edit", "digest": digest, "edited": {"total": 99}}
    served.call("POST", f"/v1{path}/decide", REVIEWER, json=edit)
    after = visitor.get(path).text
    assert "<del>12.5</del>" in after
    assert "<ins>99</ins>" in after


def test_a27_nothing_hides_on_any_way_out(served: Served, cases: Cases) -> None:
    """One list of texts, all renderers: overrides, zero-width and controls are spelled out."""
    texts = {**SMALL, "case": cases["A27"]["input"]["field"]}
    for name, render_text in RENDERERS.items():
        for which, text in texts.items():
            assert hides(render_text(text)) == [], (name, which)
        assert re.search(r"u\+?202e", render_text(texts["case"]), re.IGNORECASE), name
    visitor = Visitor(served)
    for number, text in enumerate(texts.values()):
        made = submit(
            served,
            {"total": 1, "note": text, text[:99]: 1},
            task=f"{text[:999]}",
            id=f"{number} {text[:99]}",
            source=[{"ref": text[:99] or "a", "text": text}],
            reasoning=text,
        )
        for page in (f"/reviews/{step(made)}", f"/decisions/{step(made)}"):
            answer = visitor.get(page)
            assert answer.status_code == 200, page
            assert hides(seen_of(answer.text)) == [], (page, text[:40])
    assert hides(seen_of(visitor.get("/").text)) == []
    assert hides(visitor.get("/queue.csv").text.replace("\r\n", "\n")) == []


def seen_of(page: str) -> str:
    """Return what a person sees or hears of a page; an address or a name of a field is neither."""
    found = Elements(page)
    names = ("title", "aria-label", "alt", "placeholder", "value", "label")
    return found.text + "\n".join(
        str(given[name])
        for _, given in found.found
        for name in names
        if name in given and given.get("type") != "hidden"
    )


def commands(served: Served, made: str) -> dict[str, tuple[str, ...]]:
    """Return the commands that print what an agent wrote."""
    store = ("--store", served.services.store.url)
    found: dict[str, tuple[str, ...]] = {
        "list": ("review", "list"),
        "show": ("review", "show", made),
        "claim": ("review", "claim", made, "--by", "ann"),
        "reject": ("review", "reject", made, "--by", "ann"),
        "over": ("review", "list", "--over"),
        "fault": ("review", "show", f"{made}!"),
        "golden": ("golden", "export"),
        "fields": ("golden", "fields"),
        "logbook": ("logbook",),
        "audits": ("audit", "list"),
        "reviewers": ("reviewers",),
        "ledger": ("ledger", "export", "--payloads"),
        "outbox": ("outbox", "list"),
    }
    found |= {f"{name}, JSON": (*one, "--json") for name, one in found.items() if name != "ledger"}
    return {name: (*one, *store) for name, one in found.items()}


def test_a28_no_command_lets_an_agent_write_to_the_terminal(served: Served, cases: Cases) -> None:
    """ESC, C1 and OSC are spelled out; all styling is ours, and there is none in a pipe."""
    memo = unescaped(cases["A28"]["input"]["memo"])
    assert {"\x1b", "\x9b", "\x07"} <= set(memo)
    memo += "\x1b]52;c;YQ==\x07"
    edited = submit(served, {"total": 1, "memo": memo})
    decide(served, edited, "edit", edited={"total": 2, "memo": memo}, comment=memo)
    switch = {"scope": "slice:pay", "on": True, "reason": memo}
    served.call("PUT", "/v1/switches", ADMIN, json=switch)
    made = submit(
        served, {"total": 1, memo: memo}, task=memo, id=f"d{memo}", source=memo, reasoning=memo
    )
    spelled_out, drawn = 0, ""
    for name, command in commands(served, made).items():
        piped = CliRunner().invoke(app, list(command)).output
        assert hides(piped) == [], name
        spelled_out += "\\u001b" in piped and "\\u009b" in piped
        if name in {"list", "show", "show, JSON", "logbook", "golden", "ledger", "over"}:
            drawn = on_terminal(*command, folder=Path.cwd())[1].replace("\r\n", "\n")
            assert hides(re.sub(r"\x1b\[[0-9;]*m", "", drawn)) == [], name
    assert spelled_out >= 8


def unescaped(text: str) -> str:
    """Return the characters that a case writes as \\x1b."""
    return re.sub(r"\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), text)


def decide(served: Served, review_id: str, action: str, **more: Any) -> None:
    path = f"/v1/reviews/{step(review_id)}"
    digest = served.call("GET", path, REVIEWER).json()["review"]["digest"]
    body = {"action": action, "digest": digest, **more}
    assert served.call("POST", f"{path}/decide", REVIEWER, json=body).status_code == 200
    served.clock.advance(timedelta(seconds=11))
    awaited(served.services.desk.settle())


def test_a29_no_cell_is_a_formula(served: Served, cases: Cases) -> None:
    """In every table that can be taken along, what an agent or a person wrote is a text."""
    cells = [*cases["A29"]["input"]["cells"], "-2+3", " =1", "\n=1", "\uff1d1+1", "=cmd|' /C x'!A0"]
    for cell in cells:
        made = submit(served, cell, slice_key="letters", id=cell, task=cell)
        decide(served, made, "edit", edited=f"{cell} and more", comment=cell)
        submit(served, cell, slice_key="letters", id=f"{cell}!", task=cell)
        for on in (True, False):
            switch = {"scope": "slice:pay", "on": on, "reason": cell}
            assert served.call("PUT", "/v1/switches", ADMIN, json=switch).status_code == 200
    store, visitor = ("--store", served.services.store.url), Visitor(served)
    tables = {
        name: CliRunner().invoke(app, [*name.split(), "--csv", *store]).stdout
        for name in ("review list", "review list --over", "golden export", "logbook")
    }
    for path in ("/queue.csv", "/queue.csv?over=1", "/logbook.csv"):
        answer = visitor.get(path)
        assert answer.headers["content-type"].startswith("text/csv")
        assert answer.headers["content-disposition"].startswith("attachment")
        tables[path] = answer.text
    for name, text in tables.items():
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert len(rows) > len(cells), name
        assert len({len(row) for row in rows}) == 1, name
        for cell in (cell for row in rows for cell in row):
            assert cell.lstrip()[:1] not in tuple("=+-@\uff1d"), (name, cell)
            assert cell[:1] not in tuple("\t\r\n"), (name, cell)
        assert "'=1+1" in text, name


def pages_of(served: Served, text: str) -> dict[str, str]:
    """Return the pages on which a text stands as output, task, source and claim."""
    visitor, found = Visitor(served), {}
    wholes = {"text": text, "field": {"total": 1, "note": text}}
    for number, (kind, output) in enumerate(wholes.items()):
        made = submit(
            served,
            output,
            slice_key="letters" if kind == "text" else "pay",
            task=text,
            source=[{"ref": text[:60], "text": text}],
            reasoning=text,
            alternatives=[text],
            id=f"{number}{len(text)}{hash(text)}",
        )
        places = ("reviews/{}", "decisions/{}", "reviews/{}/whole/output", "reviews/{}?as=json")
        for place in places:
            answer = visitor.get(f"/{place.format(step(made))}")
            assert answer.status_code == 200
            assert answer.headers["content-security-policy"] == CONTENT_POLICY
            assert text.split("(")[0] in Elements(answer.text).text + values_of(answer.text)
            found[f"{kind}, {place}"] = answer.text
        found[f"{kind}, inbox"] = visitor.get("/").text
        decide(served, made, "reject", comment=text)
        found[f"{kind}, decided"] = visitor.get(f"/decisions/{step(made)}").text
    return found


def values_of(page: str) -> str:
    """Return what the inputs of a page hold."""
    return " ".join(str(one.get("value", "")) for one in Elements(page).of("input"))


def policy_of_pages() -> dict[str, list[str]]:
    """Return the content security policy by directive."""
    rules = (rule.split() for rule in CONTENT_POLICY.split(";"))
    return {name: sources for name, *sources in rules}


def addresses(page: str) -> set[str]:
    """Return everything that a page lets a browser fetch or follow."""
    names = (
        "src",
        "href",
        "action",
        "srcset",
        "formaction",
        "data",
        "poster",
        "ping",
        "background",
    )
    return {
        str(given[name]) for _, given in Elements(page).found for name in names if name in given
    }


def test_a31_an_image_of_an_agent_is_never_fetched(served: Served, cases: Cases) -> None:
    """Markdown stays as it was typed: no element fetches anything, and the policy allows none."""
    output = cases["A31"]["input"]["output"]
    for name, page in pages_of(served, output).items():
        assert Elements(page).of("img") == [], name
        assert all(one.startswith(("/", "?", "#")) or not one for one in addresses(page)), name
        assert not any(one.startswith("//") for one in addresses(page)), name
    rules = policy_of_pages()
    assert (rules["default-src"], rules["img-src"]) == (["'none'"], ["'self'"])
    assert rules["connect-src"] == ["'self'"]


def test_a33_a_script_of_an_agent_is_inert_each_time(served: Served, cases: Cases) -> None:
    """No link is made of what an agent wrote, and no script of a page is in the page itself."""
    output = cases["A33"]["input"]["output"]
    for name, page in pages_of(served, output).items():
        found = Elements(page)
        scripts = found.of("script")
        assert all(set(one) == {"src", "defer"} and one["src"] for one in scripts), name
        assert not [key for _, given in found.found for key in given if key.startswith("on")], name
        assert not [one for one in addresses(page) if ":" in one.partition("?")[0]], name
    rules = policy_of_pages()
    assert rules["script-src"] == rules["style-src"] == ["'self'"]
    assert rules["base-uri"] == ["'none'"]
    assert "unsafe" not in CONTENT_POLICY


def test_a34_an_agent_draws_no_part_of_a_page(served: Served, cases: Cases) -> None:
    """A page has the same elements whatever an agent wrote, which stands in boxes of its own."""
    output = cases["A34"]["input"]["output"]
    harmless = ("Dear Ada, the parcel was sent. " * 9)[: len(output)]
    plain, drawn = pages_of(served, harmless), pages_of(served, output)
    for name, page in drawn.items():
        if "inbox" not in name:  # it has more rows by now
            assert elements_of(page) == elements_of(plain[name]), name
        assert {tag for tag, _ in elements_of(page)} == {tag for tag, _ in elements_of(plain[name])}
        assert not any("ex.invalid" in one for one in addresses(page)), name
    for name, page in drawn.items():
        boxes = re.findall(r'<pre class="text[^"]*"[^>]*>(.*?)</pre>', page, re.DOTALL)
        if "inbox" not in name:
            assert output in map(unescape, boxes) or any(output in unescape(box) for box in boxes)
    sheet = Visitor(served).get(stylesheet(drawn["text, reviews/{}"])).text
    assert re.search(r"\.text \{[^}]*border-left: 4px dashed", sheet)


def stylesheet(page: str) -> str:
    links = [str(one["href"]) for one in Elements(page).of("link")]
    return next(one for one in links if "sureline.css" in one)
