"""Keeps secrets out of traces, cards and errors, so that equal secrets still match.

A secret becomes `<secret:N>`, numbered by first appearance within one episode: the same run
yields the same numbers, so a replay can put its own world's secrets back (`reveal`). Secrets are
found by the name of the field that holds them, by shape (tokens, keys) and by having been seen
before: once a password was read, it is masked wherever it stands, in code and in text alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from runtime.contracts import Json

__all__ = ["Masker"]

SECRET_FIELD = re.compile(
    r"(^|[_-])(password|passwd|secret|api[_-]?key|token|authorization|cvv|cvv_number|pin|"
    r"verification_code|password_reset_code)$",
    re.IGNORECASE,
)
MASK = re.compile(r"<secret:(\d+|key)>")
SHAPES = re.compile(
    r"eyJ[\w-]{6,400}\.[\w-]{6,}\.[\w-]*"  # JSON web tokens; a bound keeps the search linear
    r"|\b(?:sk|pk|rk|gh[pousr]|hf|xox[abp])[-_][A-Za-z0-9][\w-]{14,}"  # keys of well-known services
    r"|\b(?:AKIA[0-9A-Z]{16}\b|AIza[\w-]{35})"  # Amazon's and Google's
    r"|(?<=Bearer )[\w.~+/=-]{12,}"
    r"|(?<=cvv_number[\"']: )\d{3,4}\b(?!\.\d)"  # 100.0 is a schema's example
)
NAMES = ("password", "passwd", "secret", "token", "api_key", "api-key", "apikey")
NAME = "|".join(
    dict.fromkeys(
        f"{form[1:]}(?<=[{name[0]}{name[0].upper()}]{form[1:]})"
        for name in NAMES
        for form in (name, name.title(), name.upper())
    )
)
"""The first letter is looked back for: so a pattern is searched far faster."""
FLAG = f"(?:{'|'.join(f'(?<=--{name})' for name in NAMES)})[ =]"
WORD = r"[\w!#%^*+./~@-]"
UNQUOTED = (
    rf"(?={WORD}{{0,199}}\d)(?={WORD}{{0,199}}[A-Za-z])(?![\w.+-]+@\w)"
    rf"(\w{WORD}{{5,198}}\w)(?=[.!?]{{0,3}}(?:[\s\"'`,;\\]|$))(?!\s{{0,9}}[=(\[])"
)
"""One word of letters and digits, no address, no code: `token: str` and `--password TEXT` stand in
documents, and a word that is taken for a secret is masked in every text from then on."""
IN_TEXT = re.compile(
    rf"""(?:{NAME})(?:(?:["']?\s*[=:]\s*|{FLAG})["']([^"'\s]{{4,}})["']"""
    rf"""|(?::|{FLAG})[ \t]*{UNQUOTED})"""
)
"""What code, JSON, a header or a command line in a text gives to a secret's name."""
NEVER_SECRET = frozenset(
    {
        *("string", "integer", "number", "boolean", "object", "array", "null", "none"),
        *("true", "false", "bearer", "password", "access_token", "token", "email"),
        *("required", "optional"),
    }
)
"""Words that stand where a secret would in schemas and documents."""
SHORTEST = 4
"""A shorter value (a one-letter password) would mask half of every text it occurs in."""
MOST_SECRETS = 500
"""Secrets that are known again wherever they stand; more are masked in their own place only."""


class Masker:
    """Masks one episode's records. Not shared between episodes."""

    def __init__(self, known: tuple[str, ...] = ()) -> None:
        """`known`: secrets from outside the episode, such as the provider's key. Always masked."""
        self._outside = frozenset(secret for secret in known if len(secret) >= SHORTEST)
        self._numbers: dict[str, int] = {}
        self._words: set[str] = set()
        self._pattern = self._compiled()

    def mask(self, value: Json) -> Json:
        """Return `value` with every secret replaced, learning the new ones on the way."""
        known = len(self._words)
        self._learn(value)
        if len(self._words) > known:
            self._pattern = self._compiled()
        return self._replace(value)

    def mask_text(self, text: str) -> str:
        """Mask a text by shape and by what is known already."""
        if len(self._words) >= MOST_SECRETS:
            text = IN_TEXT.sub(self._in_its_place, text)
        return self._pattern.sub(lambda match: self._mark(match.group()), text)

    def reveal(self, text: str) -> str:
        """Put this episode's own secrets in the place of masks. Unknown masks stay."""
        secrets = {str(number): secret for secret, number in self._numbers.items()}
        return MASK.sub(lambda match: secrets.get(match.group(1), match.group()), text)

    def _compiled(self) -> re.Pattern[str]:
        """Return one pattern for all: a second pass would find secrets in the first one's masks."""
        words = _any_of(self._outside | self._words)
        return re.compile("|".join(filter(None, (MASK.pattern, words, SHAPES.pattern))))

    def _in_its_place(self, found: re.Match[str]) -> str:
        secret = found.group(1) or found.group(2)
        return (
            found.group().replace(secret, self._mark(secret)) if _hides(secret) else found.group()
        )

    def _mark(self, found: str) -> str:
        if MASK.fullmatch(found):
            return found
        if found in self._outside:
            return "<secret:key>"
        return f"<secret:{self._numbers.setdefault(found, len(self._numbers) + 1)}>"

    def _learn(self, value: Json, field: str = "") -> None:
        if isinstance(value, dict):
            for name, item in value.items():
                self._learn(item, name)
        elif isinstance(value, list):
            for item in value:
                self._learn(item, field)
        elif isinstance(value, str):
            if SECRET_FIELD.search(field):
                self._remember(value)
            for found in IN_TEXT.finditer(value):
                self._remember(found.group(1) or found.group(2))

    def _remember(self, secret: str) -> None:
        if secret in self._words or not _hides(secret) or len(self._words) >= MOST_SECRETS:
            return
        if SHAPES.fullmatch(secret):
            return  # found by its shape
        for form in _forms(secret):
            self._mark(form)
            self._words.add(form)

    def _replace(self, value: Json, field: str = "") -> Json:
        if isinstance(value, dict):
            return {self.mask_text(name): self._replace(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self._replace(item, field) for item in value]
        if isinstance(value, str):
            if len(self._words) >= MOST_SECRETS and SECRET_FIELD.search(field) and _hides(value):
                return self._mark(value)
            return self.mask_text(value)
        if SECRET_FIELD.search(field) and isinstance(value, int) and not isinstance(value, bool):
            return self._mark(str(value)) if value > 9 else value
        return value


def _hides(secret: str) -> bool:
    """Tell whether a value in a secret's place is one."""
    return (
        len(secret) >= SHORTEST
        and secret.lower() not in NEVER_SECRET
        and MASK.search(secret) is None
    )


def _any_of(words: Iterable[str], prefixes: int = 3) -> str:
    """Return a pattern for the longest of `words` at a place, "" without words.

    Words share their first letters in it: an alternation is tried one by one at every place.
    """
    if prefixes == 0:
        return "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word))))
    by_letter: dict[str, list[str]] = {}
    for word in sorted(words):
        by_letter.setdefault(word[0], []).append(word[1:])
    parts = (
        f"{re.escape(letter)}(?:{_any_of(rests, prefixes - 1)})"
        for letter, rests in by_letter.items()
    )
    return "|".join(parts)


def _forms(secret: str) -> tuple[str, ...]:
    """Return a secret as it is, and as JSON and Python write it: quotes and the like escaped.

    They are told apart by their numbers, so that `reveal` gives code back the form it had.
    """
    written = (json.dumps(secret), json.dumps(secret, ensure_ascii=False), repr(secret))
    return tuple(dict.fromkeys((secret, *(form[1:-1] for form in written))))
