"""One call's wall time is bounded."""

import re
import signal

import pytest

from adapters.gaia2.patience import at_most


def test_a_search_that_would_not_end_is_ended():
    with pytest.raises(TimeoutError, match=r"more than 0\.05 s"), at_most(0.05):
        re.match("(a+)+b", "a" * 60)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_ends_in_time_is_left_alone():
    before = signal.getsignal(signal.SIGALRM)
    with at_most(60):
        assert re.match("(a+)+b", "aab")
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before
