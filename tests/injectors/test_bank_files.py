"""Banks on disk: readable, diffable, safe under kill, clear about what is wrong."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bank_samples import bank, delta, function, skill

from injectors.bank_files import BankFolder, create_bank, load_bank
from injectors.edits import add_skill, deactivate, merge
from runtime.errors import BadFile, UsageError

ONE, TWO = skill("Lesson one"), skill("Lesson two")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path):
    return create_bank(tmp_path / "cards", bank([ONE, TWO], [function()]))


def card_file(folder, card):
    return folder.path / "skills" / "global" / f"{card.card_id.removeprefix('skill::')}.json"


def test_a_bank_comes_back_as_it_was_written(folder):
    assert load_bank(folder.path) == bank([ONE, TWO], [function()])


def test_files_are_made_for_people_and_diffs(folder):
    text = card_file(folder, ONE).read_text()
    assert text.endswith("}\n")
    assert json.loads(text) == ONE.model_dump(mode="json")
    assert text.splitlines()[1] == f'  "card_id": "{ONE.card_id}",'
    assert (folder.path / "functions" / "music.show_songs.json").is_file()
    manifest = json.loads((folder.path / "manifest.json").read_text())
    assert manifest["schema"] == 1
    assert (manifest["function_cards"], manifest["skill_cards"]) == (1, {"global": 2})
    assert manifest["content_hash"] == folder.bank.hash


def test_the_same_bank_is_written_as_the_same_bytes(folder, tmp_path):
    create_bank(tmp_path / "again", bank([TWO, ONE], [function()]))
    for file in folder.path.rglob("*.json"):
        twin = tmp_path / "again" / file.relative_to(folder.path)
        assert twin.read_bytes() == file.read_bytes()


def test_an_existing_folder_is_not_overwritten(folder):
    with pytest.raises(UsageError, match="exists already"):
        create_bank(folder.path, bank())


def test_provenance_lies_beside_the_card_never_in_it(folder):
    origin = {"generator_ids": ["s17"], "by": "a person"}
    folder.commit(add_skill(folder.bank, "global", delta("New"), provenance=origin))
    (card,) = [card for card in folder.bank.skills() if card.title == "New"]
    assert "s17" not in card_file(folder, card).read_text()
    beside = folder.path / "provenance" / card_file(folder, card).relative_to(folder.path)
    assert json.loads(beside.read_text()) == origin
    assert load_bank(folder.path).placed(card.card_id).generators == {"s17"}


def test_edits_are_logged_and_can_be_taken_back(folder):
    before = {file: file.read_bytes() for file in folder.path.rglob("skill_*.json")}
    start = folder.bank
    origin = {"generator_ids": ["s17"]}
    both = [ONE.card_id, TWO.card_id]
    folder.commit(merge(start, ONE.card_id, both, delta("Both"), provenance=origin, reason="one"))
    assert len(list(folder.path.glob("skills/global/*.json"))) == 1
    assert [(edit.operation, edit.reason) for edit in folder.history()] == [("MERGE_CARD", "one")]
    folder.commit(folder.history()[-1].reversed())
    assert {file: file.read_bytes() for file in folder.path.rglob("skill_*.json")} == before
    assert load_bank(folder.path) == start
    assert [edit.operation for edit in folder.history()] == ["MERGE_CARD", "UNDO"]


def test_line_separators_in_a_card_do_not_break_the_history(folder):
    folder.commit(add_skill(folder.bank, "global", delta("a\u2028b\x85c")))
    assert load_bank(folder.path) == folder.bank
    assert len(folder.history()) == 1


def test_a_hand_written_bank_needs_schema_and_benchmark_only(folder):
    before = folder.bank
    manifest = {"schema": 1, "benchmark": "appworld"}
    (folder.path / "manifest.json").write_text(json.dumps(manifest))
    assert load_bank(folder.path) == before
    frozen = BankFolder(folder.path).freeze()
    assert load_bank(folder.path).hash == frozen.hash
    (folder.path / "manifest.json").write_text(json.dumps(manifest | {"frozen": True}))
    with pytest.raises(BadFile, match="changed after it was frozen"):
        load_bank(folder.path)


def test_a_hand_edit_of_an_open_bank_counts(folder):
    file = card_file(folder, ONE)
    file.write_text(file.read_text().replace("Lesson one", "Lesson 1"))
    assert {card.title for card in load_bank(folder.path).skills()} == {"Lesson 1", "Lesson two"}
    with pytest.raises(UsageError, match="changed by someone else"):
        folder.commit(deactivate(folder.bank, ONE.card_id))


def test_a_frozen_bank_refuses_edits(folder):
    folder.freeze()
    assert load_bank(folder.path).frozen
    with pytest.raises(UsageError, match="frozen"):
        folder.commit(deactivate(folder.bank, ONE.card_id))


def edited(folder):
    file = card_file(folder, ONE)
    file.write_text(file.read_text().replace("every page", "a page"))
    file.write_text(file.read_text().replace("Lesson one", "Lesson 1"))


def added(folder):
    new = skill("Smuggled in")
    card_file(folder, new).write_text(new.model_dump_json())


def lost(folder):
    card_file(folder, ONE).unlink()


def other_settings(folder):
    file = folder.path / "manifest.json"
    file.write_text(file.read_text().replace('"app_bonus": 2.0', '"app_bonus": 9.0'))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edited, f"{ONE.card_id} was edited"),
        (lost, f"{ONE.card_id} was lost"),
        (added, "was added"),
        (other_settings, "not in its cards"),
    ],
)
def test_a_change_after_freezing_is_found_and_named(folder, change, said):
    folder.freeze()
    change(folder)
    with pytest.raises(BadFile, match=said):
        load_bank(folder.path)


def test_a_copy_of_a_frozen_bank_can_be_thawed(folder, tmp_path):
    folder.freeze()
    shutil.copytree(folder.path, tmp_path / "copy")
    manifest = tmp_path / "copy" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"frozen": true', '"frozen": false'))
    copy = BankFolder(tmp_path / "copy")
    copy.commit(deactivate(copy.bank, ONE.card_id))
    assert copy.bank.skills() == (TWO,)


def torn(file):
    file.write_bytes(file.read_bytes()[:40])


def piped(file):
    """Nobody writes into the pipe: a reader would wait without end."""
    file.unlink(missing_ok=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(file)


@pytest.mark.parametrize(
    ("damage", "file", "said"),
    [
        (torn, "functions/music.show_songs.json", "line 2: is not JSON"),
        (torn, "manifest.json", "is not JSON"),
        (lambda f: f.write_bytes(b"\xff\xfe"), "functions/music.show_songs.json", "cannot be read"),
        (lambda f: f.write_text("[]"), "functions/music.show_songs.json", "one JSON object"),
        (
            lambda f: f.write_text("{}"),
            "functions/music.show_songs.json",
            "card_id: Field required",
        ),
        (lambda f: f.rename(f.with_name("a.b.json")), "functions/a.b.json", "belongs in"),
        (
            lambda f: f.write_text("[" * 100_000),
            "functions/music.show_songs.json",
            "cannot be read",
        ),
        (
            lambda f: f.write_text("9" * 5000),
            "functions/music.show_songs.json",
            "cannot be read (Exceeds the limit",
        ),
        (piped, "functions/music.show_songs.json", "is no regular file"),
        (piped, "provenance/functions/music.show_songs.json", "is no regular file"),
        (piped, "history.jsonl", "is no regular file"),
        (piped, "manifest.json", "there is no bank here"),
        (lambda f: f.write_text('{"name": "x"}'), "manifest.json", '"schema" should be 1'),
        (lambda f: f.write_text('{"schema": 2}'), "manifest.json", "schema 2, newer than the 1"),
        (lambda f: f.unlink(), "manifest.json", "there is no bank here"),
    ],
)
def test_a_damaged_foreign_or_newer_bank_says_which_file_and_why(folder, damage, file, said):
    target = folder.path / file
    renamed = target.name == "a.b.json"
    damage(folder.path / "functions/music.show_songs.json" if renamed else target)
    with pytest.raises(BadFile) as caught:
        load_bank(folder.path)
    assert said in str(caught.value)
    assert str(target if "no bank" not in said else folder.path) in str(caught.value)


def test_a_card_in_two_abilities_is_refused(folder):
    twin = folder.path / "skills" / "other" / card_file(folder, ONE).name
    twin.parent.mkdir()
    shutil.copy(card_file(folder, ONE), twin)
    with pytest.raises(BadFile, match="as well"):
        load_bank(folder.path)


def test_a_missing_folder_says_so(tmp_path):
    with pytest.raises(BadFile, match="no bank here"):
        load_bank(tmp_path / "nowhere")


def test_a_card_over_its_limits_is_refused_with_its_id(folder):
    file = folder.path / "functions" / "music.show_songs.json"
    card = json.loads(file.read_text()) | {"usage_rules": ["rule"] * 6}
    file.write_text(json.dumps(card))
    with pytest.raises(BadFile, match=r"music\.show_songs: usage_rules has 6 items"):
        load_bank(folder.path)


CRASH = """
import os, sys
from pathlib import Path
from bank_samples import delta
from injectors.bank_files import BankFolder
from injectors.edits import merge

folder, last = BankFolder(Path(sys.argv[1])), int(sys.argv[2])
count, names = 0, {"fsync": os.fsync, "replace": os.replace, "unlink": os.unlink}

def dying(name):
    def call(*args, **options):
        global count
        count += 1
        if count == last:
            os._exit(9)
        return names[name](*args, **options)
    return call

for name in names:
    setattr(os, name, dying(name))
ids = [card.card_id for card in folder.bank.skills()]
origin = {"generator_ids": ["x"]}
folder.commit(merge(folder.bank, ids[0], ids, delta("Both"), provenance=origin))
"""


@pytest.mark.slow
def test_a_kill_at_any_point_leaves_the_bank_as_before_or_as_after(tmp_path):
    before = bank([ONE, TWO], [function()])
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{Path(__file__).parent}"}
    states, point = [], 0
    while True:
        point += 1
        path = tmp_path / str(point)
        create_bank(path, before)
        run = subprocess.run([sys.executable, "-c", CRASH, path, str(point)], env=env, check=False)
        now = load_bank(path)
        titles = sorted(card.title for card in now.skills())
        states.append(titles)
        assert titles in (["Both"], ["Lesson one", "Lesson two"])
        folder = BankFolder(path)
        folder.commit(add_skill(folder.bank, "global", delta("Next")))
        assert len(load_bank(path).skills()) == len(titles) + 1
        assert load_bank(path) == folder.bank
        assert len(list(path.glob("skills/global/*.json"))) == len(titles) + 1
        if run.returncode == 0:
            break
        assert run.returncode == 9
    assert point > 8
    assert states == sorted(states, reverse=True)


WRITER = """
import sys
from pathlib import Path
from bank_samples import delta
from injectors.bank_files import BankFolder
from injectors.edits import add_skill

folder = BankFolder(Path(sys.argv[1]))
print("open", flush=True)
for n in range(10_000):
    folder.commit(add_skill(folder.bank, "global", delta(f"Lesson {sys.argv[2]} {n}")))
"""


@pytest.mark.slow
def test_a_writer_killed_for_real_leaves_a_sound_bank(folder):
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{Path(__file__).parent}"}
    for delay in (0.05, 0.11, 0.17):
        command = [sys.executable, "-c", WRITER, folder.path, str(delay)]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as writer:
            writer.stdout.readline()
            time.sleep(delay)
            writer.send_signal(signal.SIGKILL)
        again = BankFolder(folder.path)
        again.commit(add_skill(again.bank, "global", delta(f"After {delay}")))
        assert load_bank(folder.path) == again.bank
        assert len(again.bank.skills()) == 2 + len(again.history())
