"""Short names for paths."""

import pytest

from runtime.names import told_apart


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([], []),
        (["a/b"], ["b"]),
        (["runs/one", "runs/two"], ["one", "two"]),
        (["x/b", "y/b"], ["x-b", "y-b"]),
        (["b", "y/b"], ["b", "y-b"]),
        (["x/b", "x/b"], ["b", "b"]),
        (["a/x/b", "c/x/b", "c"], ["a-x-b", "c-x-b", "c"]),
    ],
)
def test_as_many_parts_as_tell_different_paths_apart(paths, names):
    assert told_apart(paths) == names
