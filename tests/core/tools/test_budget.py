from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.jsonlines import dumps
from tidegate.core.tools.budget import fit


def test_a_short_reply_stays_as_it_is():
    reply = {"data": {"rows": [1, 2, 3]}, "display_text": "three"}

    assert fit(reply, 1000) == (reply, False)


def test_a_long_list_is_cut_at_a_record_and_says_so():
    rows = [{"digest": "d" * 40, "n": n} for n in range(100)]

    cut, truncated = fit({"data": {"rows": rows, "count": 100}, "display_text": "many"}, 1000)

    assert truncated
    assert cut["data"]["rows"] == rows[: len(cut["data"]["rows"])]
    assert cut["data"]["count"] == 100
    assert "narrow" in cut["hint"]


def test_a_reply_without_lists_is_never_cut_in_the_middle():
    reply = {"data": {"text": "x" * 5000}, "display_text": ""}

    assert fit(reply, 1000) == (reply, False)


@given(st.lists(st.text(max_size=60), max_size=60), st.integers(400, 2000))
def test_what_is_cut_fits(rows: list[str], cap: int):
    cut, truncated = fit({"data": {"rows": rows}, "display_text": ""}, cap)

    assert not truncated or len(dumps(cut)) <= cap
