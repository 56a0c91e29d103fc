"""What the command line knows of a benchmark besides how to open it."""

import pytest

from injectors.forms import plain_form, rtm_form
from scripts.benchmarks import block_form, default_latch


@pytest.mark.parametrize(
    ("benchmark", "latch", "form"),
    [
        ("appworld", "function", plain_form),
        ("gaia2", "call", rtm_form),
        ("mine", "call", plain_form),
    ],
)
def test_the_latch_and_the_blocks_form_depend_on_the_benchmark(benchmark, latch, form):
    assert default_latch(benchmark) == latch
    assert block_form(benchmark) is form
