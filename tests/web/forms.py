"""The forms of a page, as a browser sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass(slots=True)
class Form:
    """Where a form is sent to, and what it holds: each name with the values that it offers."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)


class Forms(HTMLParser):
    """Collects a page's forms; what is outside of them belongs to the one that it names."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []
        self.links: list[str] = []
        self._by_id: dict[str, Form] = {}
        self._open: Form | None = None
        self._choice: Form | None = None

    @classmethod
    def of(cls, page: str) -> Forms:
        """Read a page."""
        one = cls()
        one.feed(page)
        return one

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note forms, their fields and buttons, and links."""
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and given.get("href", "").startswith("/"):
            self.links.append(given["href"])
        elif tag == "option" and self._choice is not None:
            self._choice.fields[-1] = (self._choice.fields[-1][0], given.get("value", ""))
            self._choice = None
        elif tag == "form":
            self._open = Form(given.get("action", ""), given.get("method", "get").lower())
            self.found.append(self._open)
            self._by_id[given.get("id", "")] = self._open
        elif given.get("name"):
            owner = self._by_id.get(given["form"]) if "form" in given else self._open
            if owner is not None:
                owner.fields.append((given["name"], given.get("value", "")))
            self._choice = owner if tag == "select" else None

    def handle_endtag(self, tag: str) -> None:
        """Leave a form."""
        if tag == "form":
            self._open = None
