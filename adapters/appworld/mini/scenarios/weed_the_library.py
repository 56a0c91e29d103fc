"""Bulk write: remove all songs of an artist or a genre from a library of several pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adapters.appworld.mini.music import SONG_LIBRARY, Song
from adapters.appworld.mini.people import JULIAN, MARA, Person
from adapters.appworld.mini.task import (
    Check,
    MiniTask,
    Mistake,
    code,
    only_changed,
    right_answer,
)

_REMOVE = """
for row in rows:
    song = apis.spotify.show_song(song_id=row["song_id"])
    values = [song["genre"], *(artist["name"] for artist in song["artists"])]
    if wanted in values:
        apis.spotify.remove_song_from_library(song_id=song["song_id"], access_token=token)
apis.supervisor.complete_task()
"""
_SOLUTION = f"""
token = login("spotify")
rows = pages(apis.spotify.show_song_library, access_token=token)
{_REMOVE}
"""
_FIRST_PAGE = f"""
token = login("spotify")
rows = apis.spotify.show_song_library(access_token=token)
{_REMOVE}
"""
_FIRST_FULL_PAGE = f"""
token = login("spotify")
rows = apis.spotify.show_song_library(page_limit=20, access_token=token)
{_REMOVE}
"""
_COLLATERAL = """
token = login("spotify")
apis.spotify.unlike_song(
    song_id=apis.spotify.show_liked_songs(access_token=token)[0]["song_id"], access_token=token
)
"""
_CHECKS = (
    right_answer(asked=False),
    only_changed("spotify.UserLibrarySong"),
    Check(
        "assert no song was added to a library.",
        """
        added, updated, _ = models.changed_records("spotify.UserLibrarySong")
        test.case([len(added), len(updated)], "==", [0, 0])
        """,
        holds_at_start=True,
    ),
    Check(
        "assert exactly the wanted songs left the supervisor's library.",
        """
        removed = models.changed_records("spotify.UserLibrarySong")[2]
        test.case(
            sorted((entry.user.email, entry.song.title) for entry in removed),
            "==",
            sorted((main_user.email, title) for title in public_data.titles),
        )
        """,
    ),
)


def _wanted(host: Person, keep: Callable[[Song], bool]) -> dict[str, Any]:
    listed = sorted(SONG_LIBRARY[host], key=lambda song: song.number)  # as the app lists them
    places = [place for place, song in enumerate(listed) if keep(song)]
    assert places[0] < 5, "the first page must hold a wanted song"
    assert places[-1] >= 20, "even the largest page must miss one"
    return {"titles": [listed[place].title for place in places]}


_ARTIST = "The Night Ferries"
_GENRE = "rock"

TASKS = (
    MiniTask(
        id="e50f6b2_1",
        dataset="mini_train",
        signature="bulk_or_multi_write",
        supervisor=MARA,
        instruction=f"Remove every song by {_ARTIST} from my Spotify song library.",
        apps=("spotify",),
        checks=_CHECKS,
        solution=code(_SOLUTION, wanted=_ARTIST),
        mistake=Mistake("first page only", (code(_FIRST_PAGE, wanted=_ARTIST),)),
        collateral=code(_COLLATERAL),
        public_data=_wanted(MARA, lambda song: song.artist == _ARTIST),
        difficulty=2,
    ),
    MiniTask(
        id="e50f6b2_2",
        dataset="mini_train",
        signature="bulk_or_multi_write",
        supervisor=JULIAN,
        instruction=f"I am tired of {_GENRE}. Take all {_GENRE} songs out of my Spotify song "
        "library.",
        apps=("spotify",),
        checks=_CHECKS,
        solution=code(_SOLUTION, wanted=_GENRE),
        mistake=Mistake(
            "a full first page taken for the whole list",
            (code(_FIRST_FULL_PAGE, wanted=_GENRE),),
        ),
        collateral=code(_COLLATERAL),
        public_data=_wanted(JULIAN, lambda song: song.genre == _GENRE),
        difficulty=2,
    ),
)
