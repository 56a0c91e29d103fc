"""Answer extraction: the one song of a collection with the largest play count or length."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from adapters.appworld.mini.music import LIKED_SONGS, SONG_LIBRARY, Song
from adapters.appworld.mini.people import JULIAN, MARA
from adapters.appworld.mini.task import MiniTask, Mistake, code, only_changed, right_answer

_SOLUTION = """
token = login("spotify")
rows = pages(apis.spotify[listing], access_token=token)
songs = [apis.spotify.show_song(song_id=row["song_id"]) for row in rows]
apis.supervisor.complete_task(answer=max(songs, key=lambda song: song[measure])["title"])
"""
_FIRST_PAGE = """
token = login("spotify")
rows = apis.spotify[listing](access_token=token)
songs = [apis.spotify.show_song(song_id=row["song_id"]) for row in rows]
apis.supervisor.complete_task(answer=max(songs, key=lambda song: song[measure])["title"])
"""
_SENTENCE = """
token = login("spotify")
rows = pages(apis.spotify[listing], access_token=token)
best = max(rows, key=lambda row: row[measure])
apis.supervisor.complete_task(answer=f"The longest song you liked is {best['title']}.")
"""
_COLLATERAL = """
apis.spotify.set_volume(volume=9, access_token=login("spotify"))
"""
_CHECKS = (right_answer(asked=True), only_changed())


def _only_largest(songs: Iterable[Song], measure: Callable[[Song], int]) -> str:
    second, first = sorted(songs, key=measure)[-2:]
    assert measure(second) < measure(first), "two songs share the largest value"
    return first.title


TASKS = (
    MiniTask(
        id="c3a91f0_1",
        dataset="mini_train",
        signature="answer_extraction",
        supervisor=MARA,
        instruction="What is the title of the most played song in my Spotify song library?",
        answer=_only_largest(SONG_LIBRARY[MARA], lambda song: song.play_count),
        apps=("spotify",),
        checks=_CHECKS,
        solution=code(_SOLUTION, listing="show_song_library", measure="play_count"),
        mistake=Mistake(
            "first page only",
            (code(_FIRST_PAGE, listing="show_song_library", measure="play_count"),),
        ),
        collateral=code(_COLLATERAL),
    ),
    MiniTask(
        id="c3a91f0_2",
        dataset="mini_train",
        signature="answer_extraction",
        supervisor=JULIAN,
        instruction="Give me the title of the longest song among those I have liked on Spotify.",
        answer=_only_largest(LIKED_SONGS[JULIAN], lambda song: song.duration),
        apps=("spotify",),
        checks=_CHECKS,
        solution=code(_SOLUTION, listing="show_liked_songs", measure="duration"),
        mistake=Mistake(
            "sentence instead of the bare value",
            (code(_SENTENCE, listing="show_liked_songs", measure="duration"),),
        ),
        collateral=code(_COLLATERAL),
    ),
)
