from __future__ import annotations

import pytest

from tidegate.core.cancel import Cancel


def test_an_interrupt_stops_what_runs():
    cancel = Cancel()

    with pytest.raises(KeyboardInterrupt):
        cancel.interrupt()


def test_the_first_interrupt_waits_for_the_end_of_a_shield():
    cancel = Cancel()
    done = []

    with cancel.shielded():
        cancel.interrupt()
        done.append("settled")

    assert done == ["settled"]
    with pytest.raises(KeyboardInterrupt):
        cancel.check()


def test_the_second_interrupt_does_not_wait():
    cancel = Cancel()

    with cancel.shielded():
        cancel.interrupt()
        with pytest.raises(KeyboardInterrupt):
            cancel.interrupt()


def test_shields_nest():
    cancel = Cancel()

    with cancel.shielded():
        with cancel.shielded():
            pass
        cancel.interrupt()

    assert cancel.is_set()
