"""A reviewer at work, by keyboard alone, in a real browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tests.browser.watched import Watched
from tests.web.served import ADMIN, REVIEWER, Served

Enter = Callable[..., Watched]


STOP = "(at => at.name === 'act' ? at.value : at.name || at.textContent)(document.activeElement)"


def asked(served: Served, output: Any = "Dear Ada, yes.", **fields: Any) -> str:
    given = {"slice_key": "replies", "output": output, "force_human": True, **fields}
    return str(served.decide(**given).json()["id"])


def invoice(served: Served, total: object = 12, **fields: Any) -> str:
    source = [{"ref": "mail", "text": "Total: 13.50 EUR"}]
    return asked(served, {"total": total, **fields}, slice_key="invoices", source=source)


def verdict(served: Served, review_id: str) -> Any:
    found = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()["review"]["verdict"]
    return found and found["action"]


def test_ten_items_are_cleared_by_keyboard_alone(served: Served, sign_in: Enter) -> None:
    """One key takes the first item; each verdict is one key and opens the next one."""
    ids = [invoice(served, 12 + number) for number in range(10)]
    window = sign_in()
    window.goes("n")
    began = time.perf_counter()
    for number in range(10):
        window.goes(*(["a"] if number % 2 else ["1", "r"]))
    took = time.perf_counter() - began
    assert window.page.get_by_text("Nothing waits for a person.").is_visible()
    assert {verdict(served, one) for one in ids} == {"approve", "reject"}
    assert took < 30, "the next item is to be there at once"


def test_rejecting_takes_no_more_keys_than_approving(served: Served, sign_in: Enter) -> None:
    """Each of the five actions is one key, and no reason or comment is asked for."""
    ids = [asked(served, f"Dear Ada, {number}.") for number in range(4)]
    window = sign_in()
    window.goes("n")
    for key in ("a", "r", "x", "s"):
        window.goes(key)
    actions = [verdict(served, one) for one in ids]
    assert sorted(map(str, actions)) == ["None", "None", "approve", "reject"]
    assert window.page.locator("[required]").count() == 0


def test_an_edit_shows_what_it_changes_and_is_released(served: Served, sign_in: Enter) -> None:
    """The difference stands beside its field; then the same key as for approving releases it."""
    review_id = invoice(served, 12, note="a bill")
    window = sign_in()
    window.goes("n")
    page = window.page
    window.press("e")
    assert page.evaluate("document.activeElement.name") == "field/total"
    page.keyboard.press("Control+A")
    page.keyboard.type("13.5")
    assert page.locator(".was del").inner_text() == "12"
    assert page.locator(".was ins").inner_text() == "13.5"
    assert page.get_by_role("button", name="Approve").is_disabled()
    window.goes("Escape", "a")
    served.clock.advance(timedelta(seconds=11))
    assert served.call("GET", f"/v1/decisions/{review_id}/review").json()["outcome"] is not None
    found = served.call("GET", f"/v1/reviews/{review_id}", REVIEWER).json()
    assert (found["output"]["total"], found["output"]["note"]) == (13.5, "a bill")
    assert found["review"]["verdict"]["edited_fields"] == ["total"]


def test_a_draft_is_kept_in_the_tab_until_it_is_sent(served: Served, sign_in: Enter) -> None:
    """What was typed survives a reload, can be taken back, and is gone after the verdict."""
    review_id = invoice(served)
    window = sign_in()
    page = window.open(f"/reviews/{review_id}")
    field = page.get_by_label("total", exact=True)
    field.fill("13.5")
    page.get_by_text("The item is claimed by you.").wait_for(state="attached")
    page.reload()
    assert field.input_value() == "13.5"
    page.get_by_role("button", name="Take the changes back").click()
    assert field.input_value() == "12"
    field.fill("99")
    window.goes("Escape", "r")
    assert page.evaluate("Object.keys(sessionStorage).length") == 0


def test_the_loser_of_a_race_is_told_and_keeps_what_was_typed(
    served: Served, sign_in: Enter
) -> None:
    """Somebody else was first: the page says who, and nothing of the draft is lost."""
    review_id = invoice(served)
    slow, fast = sign_in(), sign_in(ADMIN)
    slow.open(f"/reviews/{review_id}")
    fast.open(f"/reviews/{review_id}")
    fast.goes("r")
    slow.goes("a")
    alert = slow.page.get_by_role("alert")
    assert "reject by a admin" in alert.inner_text()
    assert slow.page.get_by_role("button", name="Approve").count() == 0
    assert verdict(served, review_id) == "reject"


def test_a_lost_claim_is_said_while_one_types(served: Served, sign_in: Enter) -> None:
    """Whoever starts to edit claims the item; if that fails they learn it at once."""
    review_id = invoice(served)
    window = sign_in()
    page = window.open(f"/reviews/{review_id}")
    served.call("POST", f"/v1/reviews/{review_id}/claim", ADMIN)
    page.get_by_label("total", exact=True).fill("13")
    page.get_by_role("alert").wait_for()
    assert "claimed by a admin" in page.get_by_role("alert").inner_text()
    assert "kept in this tab" in page.get_by_role("alert").inner_text()


def test_a_verdict_can_be_taken_back_by_one_key(served: Served, sign_in: Enter) -> None:
    """The next page says until when, and undo returns to the item."""
    first, second = asked(served), asked(served)
    window = sign_in()
    window.goes("n")
    window.goes("a")
    assert window.page.url.endswith(f"/reviews/{second}?done={first}")
    assert "You have approved" in window.page.get_by_role("status").first.inner_text()
    window.goes("u")
    assert window.page.url.endswith(f"/reviews/{first}")
    assert verdict(served, first) is None


def test_keys_can_be_turned_off_and_explain_themselves(served: Served, sign_in: Enter) -> None:
    """`?` lists the keys; turned off, no single key does anything, also after a reload."""
    review_id = asked(served)
    window = sign_in()
    page = window.page
    window.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    assert dialog.is_visible()
    dialog.get_by_label("Single keys act").uncheck()
    window.press("Escape")
    assert not dialog.is_visible()
    page.reload()
    window.press("n", "?")
    assert not dialog.is_visible()
    page = window.open(f"/reviews/{review_id}")
    window.press("a", "r", "x")
    assert verdict(served, review_id) is None
    page.get_by_role("button", name="Keys").click()
    page.get_by_role("dialog").get_by_label("Single keys act").check()
    window.press("Escape")
    window.goes("a")
    assert verdict(served, review_id) == "approve"


def test_rows_are_walked_by_j_and_k(served: Served, sign_in: Enter) -> None:
    """j and k move through the list, Enter opens, and typing in a field is typing."""
    ids = [asked(served, f"Dear Ada, {number}.") for number in range(3)]
    window = sign_in()
    window.press("j", "j", "j", "j", "k")
    assert window.page.evaluate("document.activeElement.textContent") == ids[1]
    window.goes("Enter")
    assert window.page.url.endswith(ids[1])
    page = window.page
    page.get_by_label("Comment").focus()
    page.keyboard.type("arxsn1")
    page.keyboard.press("Enter")
    assert page.get_by_label("Comment").input_value() == "arxsn1"
    assert verdict(served, ids[1]) is None


def test_everything_can_be_reached_by_tab(served: Served, sign_in: Enter) -> None:
    """The first stop skips to the content; all that is there has a name and is seen in focus."""
    review_id = invoice(served)
    window = sign_in()
    page = window.open(f"/reviews/{review_id}")
    window.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    window.press("Enter")
    wanted = ["field/total", "comment", "reason", "approve", "reject", "escalate", "skip", "claim"]
    stops: list[str] = []
    while "claim" not in stops and len(stops) < 60:
        window.press("Tab")
        stops.append(page.evaluate(STOP))
    assert [one for one in stops if one in wanted] == wanted
