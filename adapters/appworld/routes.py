"""Reads a cell's HTTP-like request as a call of AppWorld's table, or refuses it.

Only functions of the table are reachable, and only in canonical form: the path is rebuilt from
the function and its path arguments, the other arguments are taken from the one place where the
engine looks for them. So the gate and the engine never read different values, and no odd
encoding, other host or administrative route gets past.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from runtime.bridge.wire import Frame
from runtime.bridge.world import Route, Unrouted
from runtime.catalogue import Catalogue, Function, Parameter
from runtime.contracts import CallResult, Json

__all__ = ["Routes"]

OWN_HOST = re.compile(r"^https?://testserver(?=/|$)")
LONGEST_URL = 8000
JSON_TYPE = "application/json"


class _Endpoint:
    """One function's method and path template."""

    def __init__(self, function: Function, method: str, path: str) -> None:
        self.function, self.method = function, method
        self.path = path.strip("/")
        self.names = tuple(re.findall(r"\{(\w+)\}", path))
        template = re.sub(r"\\\{\w+\\\}", "([^/]+)", re.escape(self.path))
        self.pattern = re.compile(template)

    def match(self, path: str) -> dict[str, str] | None:
        """Return the path arguments, or None if this is not the endpoint's path."""
        found = self.pattern.fullmatch(path)
        if found is None or any(part in {".", ".."} or "\0" in part for part in found.groups()):
            return None
        return dict(zip(self.names, found.groups(), strict=True))

    def canonical(self, arguments: Mapping[str, str]) -> str:
        """Return the path with its arguments quoted."""
        path = self.path
        for name, value in arguments.items():
            path = path.replace("{" + name + "}", quote(value, safe="", errors="replace"))
        return path


class Routes:
    """Implements `runtime.bridge.world.Wiring` for AppWorld."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """`rows`: the table that the zygote read from the engine."""
        endpoints = []
        for row in rows:
            function = Function(
                name=row["name"],
                kind=row["kind"],
                reason=row["reason"],
                parameters=tuple(Parameter.model_validate(item) for item in row["parameters"]),
            )
            endpoints.append(_Endpoint(function, row["method"], row["path"]))
        self.catalogue = Catalogue(endpoint.function for endpoint in endpoints)
        # literal paths before those with arguments: /songs/search is no /songs/{song_id}
        self._endpoints = sorted(endpoints, key=lambda endpoint: len(endpoint.names))
        self._by_method: dict[str, list[_Endpoint]] = {}
        for endpoint in self._endpoints:
            self._by_method.setdefault(endpoint.method, []).append(endpoint)

    def route(self, frame: Frame) -> Route | Unrouted:
        """Read a hostile frame."""
        method = str(frame.get("method"))[:10].upper()
        url = str(frame.get("url"))[:LONGEST_URL]
        path = self._path(url)
        found = None if path is None else self._find(method, path)
        if found is None or frame.get("op") != "call":
            return self._unrouted(frame, method, url, path)
        endpoint, path_arguments = found
        place, body = _body(frame, method, endpoint.path)
        sent = {**_query(url), **(body or {})} or body if place == "params" else body
        auth = frame.get("auth") if isinstance(frame.get("auth"), str) else None
        arguments = {**(sent or {}), **_typed(endpoint.function, path_arguments)}
        return Route(
            function=endpoint.function.name,
            arguments=arguments,
            kind=endpoint.function.kind,
            account=_account(auth),
            token_seen=auth is not None,
            frame={
                "function": endpoint.function.name,
                "method": method,
                "path": "/" + endpoint.canonical(path_arguments),
                "place": place,
                "arguments": sent,
                "auth": auth,
                "url": _logged_url(frame, url),
                "logged": _logged(frame, body, auth),
            },
        )

    def result(self, reply: Frame) -> CallResult:
        """Read the world's reply: an HTTP response, or an exception of the engine's server."""
        if "exception" in reply:
            return CallResult(ok=False, value=": ".join(reply["exception"][1:]), reply=reply)
        status, body = int(reply["status"]), str(reply["body"])
        try:
            value: Json = json.loads(body)
        except (ValueError, RecursionError):
            value = body
        return CallResult(ok=status == 200, value=value, status=status, reply=reply)

    def _path(self, url: str) -> str | None:
        """Return the decoded path of a URL on our host, else None."""
        local = OWN_HOST.sub("", url)
        if "://" in local.split("?")[0]:
            return None
        path = unquote(local.split("?")[0].split("#")[0])
        return path if path.endswith("//") else path.strip("/")

    def _find(self, method: str, path: str) -> tuple[_Endpoint, dict[str, str]] | None:
        for endpoint in self._by_method.get(method, ()):
            if (arguments := endpoint.match(path)) is not None:
                return endpoint, arguments
        return None

    def _unrouted(self, frame: Frame, method: str, url: str, path: str | None) -> Unrouted:
        status, body, reason = self._answer(method, path)
        note: dict[str, Json] | None = None
        noted = frame.get("op") == "note"
        if noted or (path is not None and self._find(method, path) is None):
            data = frame.get("data") if noted else _any_body(frame, method)
            auth = frame.get("auth") if isinstance(frame.get("auth"), str) else None
            logged: Any = data
            if data is None or isinstance(data, dict):
                logged = _logged(frame, data, auth)
            note = {"method": method, "url": _logged_url(frame, url), "logged": logged}
        return Unrouted(
            request=f"{method} {url[:200]}",
            reason=reason,
            reply={"status": status, "type": JSON_TYPE, "body": body},
            note=note,
        )

    def _answer(self, method: str, path: str | None) -> tuple[int, str, str]:
        """Return status, body and reason for a request that no function answers to."""
        if path is None:
            reason = "only the apps of this world can be reached"
            return 404, _message(reason), reason
        if any(self._find(other, path) for other in self._by_method if other != method):
            return 405, '{"detail":"Method Not Allowed"}', "method not allowed"
        app, _, rest = path.partition("/")
        if app not in self.catalogue.apps:
            reason = f"No app named '{app}' found."
        elif not rest:
            reason = "No API name provided for the given app."
        elif f"{app}.{rest.split('/')[0]}" not in self.catalogue.functions:
            reason = f"No API named '{rest.split('/')[0]}' found in the {app} app."
        else:
            reason = "Not Found"
        return 404, _message(reason), reason


def _body(frame: Frame, method: str, path: str) -> tuple[str, dict[str, Json] | None]:
    """Return the one place where the engine reads arguments, and what stands there."""
    in_body = "data" if "auth/token" in path else "json"
    place = "params" if method in {"GET", "DELETE"} else in_body
    value = frame.get(place)
    if value is None:
        return place, None
    return place, value if isinstance(value, dict) else {}


def _query(url: str) -> dict[str, Json]:
    """Return the arguments in a URL's query; a name that stands there twice has a list."""
    query: dict[str, Json] = {}
    for name, values in parse_qs(
        url.partition("#")[0].partition("?")[2], keep_blank_values=True
    ).items():
        query[name] = values[0] if len(values) == 1 else list(values)
    return query


def _any_body(frame: Frame, method: str) -> object:
    return frame.get("params" if method in {"GET", "DELETE"} else "json") or frame.get("data")


def _logged(frame: Frame, body: dict[str, Json] | None, auth: str | None) -> dict[str, Json]:
    """Return what the engine's log shows: the arguments and the token, in the caller's order."""
    data: dict[str, Json] = dict(body or {})
    if auth is not None:
        data["access_token"] = auth.removeprefix("Bearer ")
    order = frame.get("order")
    if not isinstance(order, list):
        return data
    position = {name: at for at, name in enumerate(order) if isinstance(name, str)}
    names = sorted(data, key=lambda name: position.get(name, len(position)))
    return {name: data[name] for name in names}


def _logged_url(frame: Frame, url: str) -> str:
    """Return the URL as the engine logs it: with the slash that its client drops."""
    return url if "://" in url or frame.get("op") == "note" else "/" + url.lstrip("/")


def _typed(function: Function, arguments: Mapping[str, str]) -> dict[str, Json]:
    """Give path arguments the type that the function declares."""
    typed: dict[str, Json] = {}
    for name, text in arguments.items():
        parameter = function.by_parameter.get(name)
        whole = parameter is not None and parameter.type == "integer"
        typed[name] = int(text) if whole and re.fullmatch(r"-?\d{1,18}", text) else text
    return typed


def _account(auth: str | None) -> str | None:
    """Return whose token this is, without trusting it: the world checks the signature."""
    if auth is None:
        return None
    try:
        payload = auth.removeprefix("Bearer ").split(".")[1]
        subject = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"]
    except (IndexError, KeyError, TypeError, ValueError, binascii.Error, RecursionError):
        return "unreadable token " + hashlib.sha256(auth.encode("utf-8", "replace")).hexdigest()[:8]
    return str(subject)[:200].encode("utf-8", "replace").decode()


def _message(text: str) -> str:
    return json.dumps({"message": text}, separators=(",", ":"))
