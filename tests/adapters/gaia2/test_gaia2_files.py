"""What file tools say of the host is not shown."""

from types import SimpleNamespace

from adapters.gaia2.files import Roots

ROOTS = Roots(
    [SimpleNamespace(tmpdir="/tmp/box_1"), SimpleNamespace(), SimpleNamespace(tmpdir=None)]
)


def test_paths_begin_at_the_scenarios_own_root():
    text = "No such file: /tmp/box_1/a/b.txt in /tmp/box_1, not /tmp/box"
    assert ROOTS.hidden(text) == "No such file: /a/b.txt in /, not /tmp/box"
    assert ROOTS.hidden([{"name": "/tmp/box_1/x"}, 1, None]) == [{"name": "/x"}, 1, None]


def test_of_a_files_info_what_is_the_disks_is_left_out():
    info = {"name": "/tmp/box_1/x", "size": 3, "type": "file", "ino": 7, "mtime": 1.5, "uid": 0}
    assert ROOTS.hidden(info) == {"name": "/x", "size": 3, "type": "file"}
    assert ROOTS.hidden({"size": 3, "uid": 5}) == {"size": 3, "uid": 5}
