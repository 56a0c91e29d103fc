"""Spotify: a catalogue of 72 songs and what the hosts keep of it.

Play counts and durations are all different, so that "the most played" and "the longest" have one
answer whatever the set of songs.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from adapters.appworld.mini.people import HOSTS, JULIAN, MARA, PEOPLE, Person
from adapters.appworld.mini.records import add_records


@dataclass(frozen=True)
class Song:
    """One song with its album and artist."""

    number: int
    title: str
    album: str
    artist: str
    genre: str

    @property
    def play_count(self) -> int:
        """Plays, different for every song: 997 is prime and larger than the catalogue."""
        return 40 + (self.number + 1) * 311 % 997

    @property
    def duration(self) -> int:
        """Length in seconds, different for every song for the same reason (229 is prime)."""
        return 125 + (self.number + 1) * 47 % 229


_ALBUMS = (
    ("Paper Lanterns", "indie", "First Light", "Lantern Road|Half a Map|Quiet Harbour"),
    ("The Night Ferries", "rock", "Diesel Hymns", "Engine Room|Black Ice|Last Boat Home"),
    ("Iris Calloway", "folk", "Orchard Year", "Windfall|The Ladder|Cider Moon"),
    ("Velvet Antenna", "electronic", "Carrier Wave", "Static Bloom|Neon Moth|Phase Shift"),
    ("Otis Marlow Trio", "jazz", "Blue Kitchen", "Simmer|Two Spoons|Copper Pan"),
    ("Sable & Finch", "pop", "Postcards", "Wish You Were|Airmail|Wrong Address"),
    ("Cobalt Choir", "ambient", "Snowfields", "Whiteout|Breath Cloud|Thaw"),
    ("Marigold Union", "folk", "Picket Songs", "Bread First|Ten Hours|Gatehouse"),
    ("Juno Park", "pop", "Cherry Cola", "Fizz|Jukebox Heart|Backseat Summer"),
    ("Rook & Rye", "rock", "Crossbar", "Overtime|Penalty Box|Away Game"),
    ("Mina Soto", "latin", "Azotea", "Ropa Tendida|Luna de Lata|Vecina"),
    ("Glass Meridian", "electronic", "Latitude", "Zero Degrees|Trade Winds|Doldrums"),
    ("Paper Lanterns", "indie", "Second Tide", "Salt on the Window|Ferry Song|Low Water"),
    ("The Night Ferries", "rock", "Harbour Lights", "Signal Fire|Foghorn|Rope and Rust"),
    ("Iris Calloway", "folk", "Stone Fences", "Drystone|Neighbour's Dog|Lambing Snow"),
    ("Velvet Antenna", "electronic", "Long Exposure", "Glass Tower|Slow Shutter|Afterglow"),
    ("Otis Marlow Trio", "jazz", "Late Table", "Corner Booth|Unpaid Bill|Closing Time Waltz"),
    ("Sable & Finch", "pop", "Room Service", "Minibar|Do Not Disturb|Checkout at Noon"),
    ("Cobalt Choir", "ambient", "Night Bus", "Top Deck|Rain on Route 9|Terminus"),
    ("Marigold Union", "folk", "Allotment", "Runner Beans|Rake and Hoe|Shed Light"),
    ("Juno Park", "pop", "Second Helping", "Extra Cream|Borrowed Denim|Call Me Tuesday"),
    ("Rook & Rye", "rock", "Dry County", "Root Beer Riot|County Line|Sunday Law"),
    ("Mina Soto", "latin", "Mercado", "Mango Verde|Regateo|Bolsa de Hielo"),
    ("Glass Meridian", "electronic", "Sextant", "Noon Sight|Dead Reckoning|Star Chart"),
)

SONGS = tuple(
    Song(number=3 * row + place, title=title, album=album, artist=artist, genre=genre)
    for row, (artist, genre, album, titles) in enumerate(_ALBUMS)
    for place, title in enumerate(titles.split("|"))
)

SONG_LIBRARY: dict[Person, tuple[Song, ...]] = {
    MARA: tuple(SONGS[(n * 31 + 10) % 72] for n in range(34)),
    JULIAN: tuple(SONGS[(n * 7 + 3) % 72] for n in range(31)),
}
"""Songs in each host's library, in the order in which they were added."""

LIKED_SONGS: dict[Person, tuple[Song, ...]] = {
    MARA: tuple(SONGS[(n * 11 + 2) % 72] for n in range(17)),
    JULIAN: tuple(SONGS[(n * 13 + 4) % 72] for n in range(23)),
}

ALBUM_LIBRARY: dict[Person, tuple[str, ...]] = {
    MARA: tuple(_ALBUMS[n * 3 % 24][2] for n in range(8)),
    JULIAN: tuple(_ALBUMS[(n * 5 + 1) % 24][2] for n in range(7)),
}

PLAYLISTS: dict[Person, tuple[tuple[str, tuple[Song, ...]], ...]] = {
    MARA: (
        ("Morning Shift", SONGS[0:9]),
        ("Kitchen Dancing", SONGS[48:57]),
        ("Deep Work", SONGS[36:45]),
        ("Long Drives", SONGS[5:60:5]),
        ("Rainy Sunday", SONGS[12:18]),
        ("Bike Commute", SONGS[54:64:2]),
        ("Sleepy", SONGS[39:42]),
    ),
    JULIAN: (
        ("Run Club", SONGS[6:14]),
        ("Dinner Guests", SONGS[24:32]),
        ("Focus", SONGS[18:24]),
        ("Old Favourites", SONGS[1:70:8]),
        ("Garden Radio", SONGS[42:50]),
        ("Sunday Papers", SONGS[60:72:3]),
    ),
}

_FOLLOWED = {MARA: (0, 4, 7, 9, 10, 11), JULIAN: (1, 2, 3, 5, 8, 10, 11)}
_RELEASED = datetime(2016, 3, 4)


def add_music(models: Any, users: dict[Person, Any]) -> None:
    """Store the catalogue and the hosts' libraries, likes, playlists and followed artists."""
    spotify = models.spotify
    songs, albums, artists = _add_catalogue(spotify)
    add_records(spotify.MusicPlayer, ({"user_id": users[person].id} for person in PEOPLE))
    for host in HOSTS:
        user = users[host].id
        add_records(
            spotify.UserLibrarySong,
            (
                {"user_id": user, "song_id": songs[song].id, "created_at": _on_day(3 * n)}
                for n, song in enumerate(SONG_LIBRARY[host])
            ),
        )
        add_records(
            spotify.SongLike,
            (
                {"user_id": user, "song_id": songs[song].id, "liked_at": _on_day(5 * n)}
                for n, song in enumerate(LIKED_SONGS[host])
            ),
        )
        add_records(
            spotify.UserLibraryAlbum,
            (
                {"user_id": user, "album_id": albums[title].id, "created_at": _on_day(11 * n)}
                for n, title in enumerate(ALBUM_LIBRARY[host])
            ),
        )
        add_records(
            spotify.UserArtistFollowing,
            ({"user_id": user, "artist_id": artists[place].id} for place in _FOLLOWED[host]),
        )
        _add_playlists(spotify, host, user, songs)


def _on_day(day: int) -> datetime:
    return datetime(2022, 9, 1, 8, 15) + timedelta(days=day)


def _add_catalogue(spotify: Any) -> tuple[dict[Song, Any], dict[str, Any], list[Any]]:
    genres = {artist: genre for artist, genre, *_ in _ALBUMS}
    artists = add_records(
        spotify.Artist,
        (
            {"name": artist, "genre": genre, "created_at": _RELEASED}
            for artist, genre in genres.items()
        ),
    )
    artist_ids = {artist.name: [artist.id] for artist in artists}
    albums = add_records(
        spotify.Album,
        (
            {
                "title": title,
                "artist_ids": artist_ids[artist],
                "release_date": _RELEASED + timedelta(days=97 * place),
                "genre": genre,
            }
            for place, (artist, genre, title, _) in enumerate(_ALBUMS)
        ),
    )
    by_title = {album.title: album for album in albums}
    songs = add_records(
        spotify.Song,
        (
            {
                "title": song.title,
                "artist_ids": artist_ids[song.artist],
                "album_id": by_title[song.album].id,
                "duration": song.duration,
                "release_date": by_title[song.album].release_date,
                "genre": song.genre,
                "play_count": song.play_count,
            }
            for song in SONGS
        ),
    )
    return dict(zip(SONGS, songs, strict=True)), by_title, artists


def _add_playlists(spotify: Any, host: Person, user: int, songs: dict[Song, Any]) -> None:
    for place, (title, members) in enumerate(PLAYLISTS[host]):
        made = _on_day(28 * place)
        playlist = spotify.Playlist.create_save(
            title=title, user_id=user, is_public=place % 3 == 0, created_at=made
        )
        add_records(
            spotify.PlaylistSong,
            (
                {"playlist_id": playlist.id, "song_id": songs[song].id, "added_at": made}
                for song in members
            ),
        )
