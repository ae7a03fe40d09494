"""An item's page in a real browser: what is typed lasts, what decides is in sight, claims end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.browser.watched import Watched
from tests.web.served import ADMIN, MOMENT, REVIEWER, Served, awaited, serve

Enter = Callable[..., Watched]

POLICY = f"""\
version: 1
slices:
  invoices:
    mode: route
    weights: {{verification: 1}}
    output:
      json_schema:
        type: object
        required: [vendor, date, total]
        properties:
          vendor: {{type: string}}
          date: {{type: string, format: date}}
          total: {{type: number, title: Total due}}
    grounding:
      fields: [vendor, date, total]
      types: {{date: date, total: number}}
    review: {{honeypots: 0, double_review: 0}}
    hypothesis: {{auto: 0.85, reject: 0.3, allow_uncertified: true, starts: {MOMENT.date()}}}
"""
INVOICE = "INVOICE 4711\nHarbour Paper Ltd\n2026-01-14\n\n8 boxes of paper\nTotal due: GBP 1,240.50"
VIEWS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1280, "height": 900}},
    "telephone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}},
}
IN_SIGHT = """button => {
  const box = button.getBoundingClientRect();
  return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
}"""
COVERED = """() => {
  const at = document.activeElement;
  const bar = document.querySelector(".decide");
  if (at === document.body || bar.contains(at)) return null;
  const box = at.getBoundingClientRect();
  const isSeen = box.top < bar.getBoundingClientRect().top && box.bottom > 0;
  return isSeen ? null : at.outerHTML.slice(0, 120);
}"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serve(tmp_path, policy=POLICY) as one:
        yield one


def invoice(served: Served, total: float = 1420.5) -> str:
    output = {"vendor": "Harbour Paper Ltd", "date": "2026-01-14", "total": total}
    source = [{"ref": "mail-17.txt", "text": INVOICE}]
    made = served.decide(output=output, source=source, reasoning="It stands at the bottom.")
    return str(made.json()["id"])


def found(served: Served, review_id: str) -> Any:
    return served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()["review"]


def type_an_edit(page: Any) -> None:
    page.get_by_label("Total due").fill("1240.5")
    page.get_by_label("Comment").fill("digits were swapped")
    page.get_by_label("wrong value").check()
    page.get_by_text("The item is claimed by you.").wait_for(state="attached")


# What is typed lasts


@pytest.mark.parametrize("ending", ["cookie gone", "key revoked"])
@pytest.mark.parametrize("key", ["a", "r"])
def test_what_was_typed_outlives_the_session(
    served: Served, sign_in: Enter, ending: str, key: str
) -> None:
    """Signing in, one reads that nothing was recorded; after it all is there as it was typed."""
    review_id = invoice(served)
    secret = served.make_key(REVIEWER, name="ada")
    window = sign_in(secret=secret)
    page = window.open(f"/reviews/{review_id}")
    type_an_edit(page)
    if ending == "cookie gone":
        page.context.clear_cookies()
    else:
        keys = served.services.keys
        mine = awaited(keys.find(secret))
        assert mine is not None
        awaited(keys.revoke("default", mine.id, served.clock.now()))
        secret = served.make_key(REVIEWER, name="ada")
    window.goes("Escape", key)
    assert "Your session ended; nothing was recorded" in page.get_by_role("alert").inner_text()
    assert window.faults() == []
    page.get_by_label("API key").fill(secret)
    window.goes("Enter")
    assert page.url.endswith(f"/reviews/{review_id}")
    assert page.get_by_label("Total due").input_value() == "1240.5"
    assert page.get_by_label("Comment").input_value() == "digits were swapped"
    assert page.get_by_label("wrong value").is_checked()
    assert found(served, review_id)["verdict"] is None
    window.goes("a")
    assert found(served, review_id)["verdict"]["action"] == "edit"
    assert page.evaluate("Object.keys(sessionStorage).length") == 0


def test_an_edit_is_taken_back_by_one_key_and_can_be_changed(
    served: Served, sign_in: Enter
) -> None:
    """`u` on the next page brings the item back with the edit typed; a reload sends nothing."""
    first, second = invoice(served), invoice(served, 1.5)
    window = sign_in()
    page = window.open(f"/reviews/{first}")
    type_an_edit(page)
    window.goes("Escape", "a")
    assert f"/reviews/{second}" in page.url
    assert "You have edited" in page.get_by_role("status").first.inner_text()
    window.goes("u")
    assert page.url.endswith(f"/reviews/{first}")
    assert page.get_by_label("Total due").input_value() == "1240.5"
    assert page.locator(".was del").inner_text() == "1420.5"
    assert page.get_by_label("Comment").input_value() == "digits were swapped"
    assert found(served, first)["state"] == "claimed"
    assert found(served, second)["state"] == "pending"
    page.reload()
    assert found(served, first)["state"] == "claimed"
    page.get_by_label("Total due").fill("1240.75")
    window.goes("Escape", "a")
    served.clock.advance(timedelta(seconds=11))
    output = served.call("GET", f"/v1/reviews/{first}", REVIEWER).json()["output"]
    assert output["total"] == 1240.75


def test_what_can_be_taken_back_counts_down(served: Served, sign_in: Enter) -> None:
    """The notice says in how many seconds a verdict is final, and then that it is."""
    first, _ = invoice(served), invoice(served, 1.5)
    window = sign_in()
    page = window.open(f"/reviews/{first}")
    page.clock.install()
    window.goes("r")
    notice = page.get_by_role("status").first
    assert "final in 10\N{NO-BREAK SPACE}s (09:00:10 UTC)" in notice.inner_text()
    page.clock.fast_forward(2_500)
    assert "final in 8\N{NO-BREAK SPACE}s" in notice.inner_text()
    page.clock.fast_forward(9_000)
    assert notice.inner_text().endswith("It is final.")
    assert page.get_by_role("button", name="Undo").count() == 0


def test_stands_in_is_said_of_what_stands_there_alone(served: Served, sign_in: Enter) -> None:
    """It goes while a field is changed and comes back with the change taken back."""
    review_id = invoice(served)
    window = sign_in()
    page = window.open(f"/reviews/{review_id}")
    stands = page.locator("[data-field]", has=page.get_by_label("vendor")).locator("[data-stands]")
    assert stands.inner_text() == "stands in mail-17.txt (claimed)"
    page.get_by_label("vendor").fill("Harbor")
    assert not stands.is_visible()
    page.get_by_role("button", name="Take the changes back").click()
    assert stands.is_visible()


def test_errors_are_read_with_their_fields(served: Served, sign_in: Enter) -> None:
    """What is wrong and what was changed both describe the field, after an edit was refused."""
    review_id = invoice(served)
    window = sign_in()
    page = window.open(f"/reviews/{review_id}")
    page.get_by_label("Total due").fill("twelve")
    window.goes("Escape", "a")
    field = page.get_by_label("Total due")
    assert field.input_value() == "twelve"
    said = field.get_attribute("aria-describedby")
    assert said == "field/total-fault field/total-was"
    assert window.faults() == []


# What decides is in sight


@pytest.mark.parametrize("view", VIEWS)
def test_what_decides_is_in_sight_and_hides_no_focus(
    served: Served, sign_in: Enter, view: str
) -> None:
    """Each button is in the window wherever one reads; no stop of the keyboard is under the bar."""
    review_id = invoice(served)
    window = sign_in(**VIEWS[view])
    page = window.open(f"/reviews/{review_id}")
    for name in ("Approve a", "Reject r", "Edit e", "Escalate x", "Skip s", "Claim c"):
        assert page.get_by_role("button", name=name).evaluate(IN_SIGHT), name
    assert page.locator("#effect").evaluate(IN_SIGHT)
    assert page.get_by_label("wrong value").evaluate(IN_SIGHT)
    assert window.faults() == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    covered = []
    for keys in ("Tab", "Shift+Tab"):
        for _ in range(60):
            window.press(keys)
            covered.append(page.evaluate(COVERED))
            if page.evaluate("document.activeElement === document.body"):
                break
    assert [one for one in covered if one] == []
    page.get_by_label("Total due").fill("1240.5")
    for name in ("Release as edited a", "Reject r", "Take the changes back"):
        assert page.get_by_role("button", name=name).evaluate(IN_SIGHT), name
    assert window.faults() == []


def test_an_invoice_fits_one_screen(served: Served, sign_in: Enter) -> None:
    """With three fields, nothing is to be scrolled at 1280 by 900."""
    review_id = invoice(served)
    page = sign_in(viewport={"width": 1280, "height": 900}).open(f"/reviews/{review_id}")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")


def test_a_low_window_is_not_covered_by_the_bar(served: Served, sign_in: Enter) -> None:
    """Enlarged four times, the bar stands at the end of the page."""
    review_id = invoice(served)
    page = sign_in(viewport={"width": 320, "height": 256}).open(f"/reviews/{review_id}")
    assert not page.get_by_role("button", name="Approve").evaluate(IN_SIGHT)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_is_decided_without_scripts(served: Served, browser: Any) -> None:
    """Without scripts every button is there and edits, too, are sent."""
    review_id = invoice(served)
    window = Watched(browser.new_context(java_script_enabled=False), served.url)
    window.sign_in(served.keys[REVIEWER])
    page = window.open(f"/reviews/{review_id}")
    assert page.get_by_role("button", name="Approve").evaluate(IN_SIGHT)
    page.get_by_label("Total due").fill("1240.5")
    with page.expect_navigation():
        page.get_by_role("button", name="Release as edited").click()
    assert found(served, review_id)["verdict"]["action"] == "edit"
    with page.expect_navigation():
        page.get_by_role("button", name="Undo").click()
    assert page.get_by_label("Total due").input_value() == "1240.5"
    window.close()


# Claims end


def claimed_by(served: Served, page: Any, review_id: str, wanted: str | None) -> bool:
    """Wait for a claim as it is wanted: a beacon arrives a moment after its page has gone."""
    for _ in range(100):
        if found(served, review_id)["claimed_by"] == wanted:
            return True
        page.wait_for_timeout(20)
    return False


def by_inbox(window: Watched, other: str) -> None:
    window.goes("i")


def by_sign_out(window: Watched, other: str) -> None:
    with window.page.expect_navigation():
        window.page.get_by_role("button", name="Sign out").click()


def by_another(window: Watched, other: str) -> None:
    window.open(f"/reviews/{other}")


def by_closing(window: Watched, other: str) -> None:
    window.page.close(run_before_unload=True)
    window.page = window.page.context.new_page()


def by_next(window: Watched, other: str) -> None:
    window.goes("j")


LEAVING = [by_inbox, by_sign_out, by_another, by_closing, by_next]


@pytest.mark.parametrize("leave", LEAVING)
def test_what_is_left_untouched_is_given_back(
    served: Served, sign_in: Enter, leave: Callable[[Watched, str], None]
) -> None:
    """However one leaves: the other reviewer can take the item at once."""
    first, other = invoice(served), invoice(served, 1.5)
    window = sign_in()
    window.goes("n")
    assert found(served, first)["claimed_by"] == "a reviewer"
    leave(window, other)
    assert claimed_by(served, window.page, first, None)
    taken = served.call("POST", f"/v1/reviews/{first}/claim", ADMIN)
    assert taken.status_code == 200


@pytest.mark.parametrize("leave", LEAVING)
def test_what_was_begun_is_kept(
    served: Served, sign_in: Enter, leave: Callable[[Watched, str], None]
) -> None:
    """A draft that was typed over keeps its claim."""
    first, other = invoice(served), invoice(served, 1.5)
    window = sign_in()
    window.goes("n")
    window.page.get_by_label("Total due").fill("1240.5")
    window.press("Escape")
    assert claimed_by(served, window.page, first, "a reviewer")
    leave(window, other)
    window.page.wait_for_timeout(200)
    assert found(served, first)["claimed_by"] == "a reviewer"


def test_what_was_claimed_by_its_key_is_kept(served: Served, sign_in: Enter) -> None:
    """Whoever presses Claim means it, and gives it back by a press."""
    first = invoice(served)
    window = sign_in()
    page = window.open(f"/reviews/{first}")
    window.goes("c")
    window.goes("i")
    page.wait_for_timeout(200)
    assert found(served, first)["claimed_by"] == "a reviewer"
    window.open(f"/reviews/{first}")
    with page.expect_navigation():
        page.get_by_role("button", name="Give back").click()
    assert found(served, first)["claimed_by"] is None


def test_the_first_touch_makes_a_claim_last(served: Served, sign_in: Enter) -> None:
    """A claim that nobody asked for lasts two minutes, and a lease once somebody works on it."""
    first = invoice(served)
    window = sign_in()
    window.goes("n")
    assert found(served, first)["lease_until"].startswith("2026-01-05T09:02:00")
    with window.page.expect_response("**/hold"):
        window.press("Tab")
    assert found(served, first)["lease_until"].startswith("2026-01-05T09:15:00")
