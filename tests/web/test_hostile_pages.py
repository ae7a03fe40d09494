"""Whatever is sent to a page, it is answered: refused in words, or done; never a fault of ours."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from sureline.application.ports.keys import Role
from sureline.web.app import PAGES
from tests.web.browsing import Visitor
from tests.web.forms import Form, Forms
from tests.web.prepared import WIDE_POLICY, World
from tests.web.served import ADMIN, REVIEWER, Served, serve

pytestmark = pytest.mark.slow

FORM = "application/x-www-form-urlencoded"
FIXED = settings(
    max_examples=60,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
HOSTILE = (
    "a word",
    "",
    " ",
    "\x00",
    "-1",
    "1e999",
    "NaN",
    "9" * 5_000,
    "٣",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "../../etc/passwd",
    "//evil.example/",
    "https://evil.example/",
    "\r\nset-cookie: a=b",
    "\u202eevil\u2066",
    "[" * 2_000,
    '{"a": 1, "a": 2}',
    "\ufffd\ufeff",
    "a" * 70_000,
)
PLACES = ("id", "key", "hash", "name", "part")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on which there is something of everything."""
    with serve(tmp_path_factory.mktemp("store"), policy=WIDE_POLICY) as one:
        yield one


@pytest.fixture(scope="module")
def world(served: Served) -> World:
    """Items of every kind that wait, are held, and are decided; and a policy to activate."""
    world = World(served=served)
    world.incident()
    world.mark()
    world.pages += ["/slices/corrected", "/recall?slice_key=audited", "/incidents"]
    world.pages.append(f"/calibrations/{world.calibration()}")
    text = WIDE_POLICY.replace("auto: 0.85", "auto: 0.86")
    made = served.call("POST", "/v1/policies", ADMIN, json={"text": text}).json()
    world.pages.append(f"/policy?show={made['hash']}")
    world.pages.append(f"/missions/{world.mission()}")
    world.asked()
    world.answer_first()
    world.audited()
    world.decision(output={"total": 1, "note": "<b>", "more": [1, {"a": None}]}, force_human=True)
    world.decided()
    return world


@pytest.fixture(scope="module")
def visitors(world: World) -> dict[Role, Visitor]:
    """Somebody of each role that has pages."""
    return {role: Visitor(world.served, role) for role in (REVIEWER, ADMIN)}


def answered(response: httpx.Response) -> int:
    """Return the status of an answer that is none of ours to be ashamed of."""
    assert response.status_code < 500, (response.request.url, response.text[:500])
    assert "evil.example" not in response.headers.get("location", "")[:20]
    assert response.headers.get("set-cookie", "").count("a=b") == 0
    if response.headers["content-type"].startswith("text/html"):
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert "<script>alert(1)" not in response.text
    return response.status_code


def addresses(path: str, world: World) -> list[str]:
    """Return a page's addresses: of a thing that exists, and of hostile names."""
    if "{" not in path:
        return [path]
    real = {"key": "replies", "hash": world.policy(), "name": "sureline.css", "part": "task"}
    hostile = [text[:2_000] for text in HOSTILE if text]
    found = []
    known = world.mission() if path.startswith("/missions/") else world.asked()
    for names in ({**real, "id": known}, *(dict.fromkeys(PLACES, one) for one in hostile)):
        steps = {name: quote(text, safe="") for name, text in names.items()}
        found.append(path.format_map(_OrId(steps)))
    return found


class _OrId(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return self["id"]


STREAM = "/events"  # never ends by itself; see test_live_counts.py
GETS = sorted({page.path for page in PAGES if page.method == "GET"} - {STREAM})
POSTS = sorted({page.path for page in PAGES if page.method == "POST"} - {"/logout"})


def words_of(page: str) -> list[str]:
    """Return the names that a page's own forms and links send."""
    seen = Forms.of(page)
    names = {name for form in seen.found for name, _ in form.fields}
    for link in seen.links:
        names |= {pair.partition("=")[0] for pair in link.partition("?")[2].split("&") if pair}
    return sorted(names | {"next", "done", "as", "find", "over", "offset", "slice", "kind"})


@pytest.mark.parametrize("path", GETS)
def test_hostile_addresses_are_answered(
    world: World, visitors: dict[Role, Visitor], path: str
) -> None:
    """Names that steer, hide, overflow or are of another thing give a page or a refusal."""
    visitor = visitors[ADMIN]
    for place in addresses(path, world):
        answered(visitor.get(place))
    (place, *_) = addresses(path, world)
    for name in words_of(visitor.get(place).text):
        for text in HOSTILE:
            pair = urlencode({name: text[:6_000]})
            answered(visitor.get(f"{place}?{pair}"))
        answered(visitor.get(f"{place}?{name}&{name}=1&{name}=%ff%fe&%00={name}&;=&{name}=%"))


@pytest.mark.parametrize("path", POSTS)
def test_hostile_forms_are_answered(world: World, visitors: dict[Role, Visitor], path: str) -> None:
    """Each form of each page, with a field that is missing, twice, huge, or hostile.

    Some are taken all the same, so they got as far as what they are about.
    """
    statuses = set()
    for visitor in visitors.values():
        for form in forms_to(path, world, visitor):
            for name in fields_of_each_kind(form):
                rest = [(one, text) for one, text in form.fields if one != name]
                for pairs in (form.fields, rest, [*form.fields, (name, "x")], *_each(rest, name)):
                    statuses.add(sent(world, visitor, form.action, pairs))
    wanted = {"/login": 401, "/reviews/{id}/hold": 200, "/picked": 200}.get(path, 303)
    wanted = 200 if path.endswith("/leave") else wanted
    assert wanted in statuses


def fields_of_each_kind(form: Form) -> list[str]:
    """Return the names of a form's fields; of those that are numbered, the first and the last.

    The selection has one for each item of its list: as many as the tests before have left.
    """
    kinds: dict[str, list[str]] = {}
    for name, _ in form.fields:
        if name != "csrf":
            kinds.setdefault(name.rstrip("0123456789"), []).append(name)
    return [name for names in kinds.values() for name in dict.fromkeys((names[0], names[-1]))]


def _each(rest: list[tuple[str, str]], name: str) -> Iterator[list[tuple[str, str]]]:
    for text in HOSTILE:
        yield [*rest, (name, text)]


@pytest.mark.parametrize("path", POSTS)
def test_forms_at_random_are_answered(
    world: World, visitors: dict[Role, Visitor], path: str
) -> None:
    """Any part of a form, in any order, with any values, is refused or done."""
    forms = forms_to(path, world, visitors[ADMIN])
    texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(codec="utf-8"), max_size=40))

    @seed(20_260_105)
    @FIXED
    @given(data=st.data())
    def send(data: st.DataObject) -> None:
        form = data.draw(st.sampled_from(forms))
        pairs = data.draw(st.lists(st.sampled_from(form.fields or [("a", "b")]), max_size=8))
        changed = [(name, data.draw(texts) if data.draw(st.booleans()) else v) for name, v in pairs]
        sent(world, visitors[ADMIN], form.action, changed)

    send()


def forms_to(path: str, world: World, visitor: Visitor) -> list[Form]:
    """Return the forms of all pages that are sent to an address; one without any where none is."""
    found = []
    for place in (*(addresses(page, world)[0] for page in GETS), *world.pages):
        forms = Forms.of(_drawn_up(visitor, place)).found
        found += [one for one in forms if one.method == "post" and _matches(path, one.action)]
    place = addresses(path, world)[0]
    return [*found, Form(place, "post", [("digest", "0" * 64), ("act", "approve")])]


def _drawn_up(visitor: Visitor, place: str) -> str:
    """Return a page once the report that it shows is there."""
    for _ in range(60):
        text = visitor.get(place).text
        if "being drawn up" not in text:
            break
    return text


def _matches(path: str, action: str) -> bool:
    pattern, steps = path.split("/"), action.partition("?")[0].split("/")
    return len(pattern) == len(steps) and all(
        a == b or a.startswith("{") for a, b in zip(pattern, steps, strict=True)
    )


def sent(world: World, visitor: Visitor, place: str, pairs: list[tuple[str, str]]) -> int:
    """Send a form with the session's token; attempts to sign in are not made too fast."""
    if place == "/login":
        world.served.clock.advance(timedelta(seconds=1))
    body = urlencode([*(one for one in pairs if one[0] != "csrf"), ("csrf", visitor.csrf)])
    return answered(visitor.client.post(place, content=body, headers={"content-type": FORM}))


BODIES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "json": {"json": {"csrf": "x"}},
    "multipart": {"files": {"a": b"b"}},
    "plain text": {"content": b"a=b", "headers": {"content-type": "text/plain"}},
    "no type": {"content": b"a=b", "headers": {"content-type": ""}},
    "bytes": {"content": b"\xff\xfe\x00=%ff", "headers": {"content-type": FORM}},
    "another charset": {"content": b"a=b", "headers": {"content-type": FORM + "; charset=utf-7"}},
    "many fields": {"content": b"a=b&" * 50_000, "headers": {"content-type": FORM}},
    "2 MB": {"content": b"a=" + b"x" * 2_000_000, "headers": {"content-type": FORM}},
    "too large": {"content": b"a=" + b"x" * 3_000_000, "headers": {"content-type": FORM}},
    "compressed": {
        "content": b"\x1f\x8b",
        "headers": {"content-type": FORM, "content-encoding": "gzip"},
    },
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("path", POSTS)
def test_what_is_no_form_is_refused(
    world: World, visitors: dict[Role, Visitor], path: str, body: str
) -> None:
    """Other types, bytes, too many fields and too much of them are refused in words."""
    place = addresses(path, world)[0]
    assert answered(visitors[ADMIN].client.post(place, **BODIES[body])) >= 400


HEADERS = {
    "origin": ("null", "http://[", "http://a:b:c", "\xff", "http://[::1]", "x" * 5_000),
    "host": ("", "[", "a b", "evil.example", "\xff", "x" * 5_000),
    "cookie": (
        "sureline_session",
        "sureline_session=",
        "sureline_session=.",
        "sureline_session=a.b.c",
        "sureline_session=\xff.\xff",
        "sureline_session=a.1.b.c; sureline_session=b",
        '="; ;;=; a="',
        "x=" + "y" * 8_000,
    ),
    "accept": ("", "text/html", "\xff", "text/html;q=x", "*/*"),
    "x-forwarded-proto": ("https", "\xff", "https, http"),
    "sec-fetch-site": ("", "\xff", "none", "cross-site"),
    "hx-request": ("true", "\xff"),
    "authorization": ("Bearer", "Basic \xff", "\xff"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_hostile_headers_are_answered(
    world: World, visitors: dict[Role, Visitor], name: str
) -> None:
    """Headers that cannot be read sign nobody in, and are no fault of ours."""
    client = visitors[ADMIN].client
    review = f"/reviews/{world.asked()}"
    for text in HEADERS[name]:
        headers = {name: text.encode("latin-1")}
        for place in ("/", review, "/login", "/healthz", "/v1/slices"):
            answered(client.get(place, headers=headers))
        for place in ("/login", review):
            answered(client.post(place, headers=headers, data={"csrf": visitors[ADMIN].csrf}))
