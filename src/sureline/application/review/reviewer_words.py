"""What a person's figures mean, in plain words (R7)."""

from __future__ import annotations

from sureline.application.review.reviewers import Reviewer

WHAT_THEN = (
    "Talk to them before anything else: the work may be too much, or the page may not show what "
    "matters."
)
"""What a lead does about it."""


def flag_reason(one: Reviewer, *, own: bool = False) -> str:
    """Say why somebody is named, by what and where; nothing for everybody else.

    With `own` it is said to the person.
    """
    if not one.attention.flagged:
        return ""
    found = one.attention.detection
    if one.attention.evidence >= one.attention.limit:
        where, which = "", f"{found.caught} of {found.shown} planted errors"
    else:
        slices = one.attention.inattentive_in
        seen = [one.attention.slices[key] for key in slices]
        where = f" in {', '.join(slices)}"
        which = (
            f"{sum(each.caught for each in seen)} of {sum(each.shown for each in seen)} planted "
            "errors"
        )
    whose = "Your labels" if own else "Labels of this person"
    return (
        f"{which}{where} were noticed: too few for somebody who looks. {whose} certify "
        f"nothing{where or ' anywhere'} meanwhile."
    )
