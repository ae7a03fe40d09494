"""What a verdict is bound to: the digest of an output, all of it, as it is stored."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from sureline.core.canonical import canonical_json, json_bytes
from sureline.core.review.opening import content_digest


def test_what_is_bound_is_all_of_the_output() -> None:
    """The digest is of the canonical JSON: order is nothing, a type or an omission is much."""
    same = content_digest({"qty": 3, "to": "x"}), content_digest({"to": "x", "qty": 3})
    assert same[0] == same[1]
    others = [{"qty": "3"}, {"qty": 3}, {"qty": 3, "rush": False}, {"qty": 3.5}]
    assert len({content_digest(one) for one in others}) == len(others)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_what_is_stored_has_the_digest_of_what_was_decided(output: object) -> None:
    """Written down and read again, an output is the content that was approved."""
    assert content_digest(json.loads(json_bytes(output))) == content_digest(output)
    assert content_digest(json.loads(canonical_json(output))) == content_digest(output)
