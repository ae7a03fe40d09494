"""Whatever answers behind a name, no certificate of another model ever automates (L5)."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sureline.application.models_seen import SETTLING
from tests.answering import answering, answering_policy

steps = st.lists(
    st.tuples(
        st.sampled_from(["A", "A", "B", "C", None]),
        st.integers(1, 4),
        st.sampled_from([1, 20, 59, 61, 500]),
        st.sampled_from([None, "p:gen", "p:another"]),
    ),
    max_size=15,
)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps)
def test_no_certificate_holds_for_what_other_models_measured(
    taken: list[tuple[str | None, int, int, str | None]],
) -> None:
    """An output is automated only if the certified models made and judged it, or answered last."""
    policy = answering_policy(otherwise=0.5, generator={"model": "p:gen"})
    with answering(policy) as world:
        world.certify()
        last = "A"
        for model, decisions, minutes, generator in taken:
            world.clock.advance(timedelta(minutes=minutes))
            world.model = model
            more = {} if generator is None else {"generator": {"model": generator}}
            for made in [world.decide(**more) for _ in range(decisions)]:
                answered = {one.detail["model"] for one in made.signals if "model" in one.detail}
                if made.approved:
                    assert (answered or {last}) == {"A"}
                    assert generator != "p:another"
                last = next(iter(answered), last)
        moments = [one.at for one in world.notes()][1:]
        assert all(after - before >= SETTLING for before, after in pairwise(moments))
