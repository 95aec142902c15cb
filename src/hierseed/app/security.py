"""Access control: checks on every request and every websocket, before any page sees it.

A page of another site must not reach the workbench through the visitor's own browser. So the
Host must be ours (a name that was re-pointed at this machine is not), and whatever can change
something must come from a page of ours (its Origin). And a token is asked of everyone, since
other people may use the same computer.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from hierseed.errors import ProjectError

if TYPE_CHECKING:  # comes with the extra `app`; `hierseed serve` says so where it is absent
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
COOKIE = "hierseed_token"  # and the port: browsers share cookies between the ports of a host
SAFE = ("GET", "HEAD", "OPTIONS")

HEADERS = {
    # The page's own scripts are compiled in the browser (unsafe-eval); nothing may be loaded
    # from, or sent to, any other place.
    "content-security-policy": "default-src 'self'; script-src 'self' 'unsafe-inline' "
    "'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """True for an address that only this computer can reach."""
    return host in ("127.0.0.1", "localhost", "::1")


def new_token() -> str:
    """A token that can't be guessed."""
    return secrets.token_urlsafe(24)


def token_for(host: str, token: str | None) -> str:
    """The token to ask for: a new one unless given; none is allowed only on this computer."""
    if token is None:
        return new_token()
    if not token and not is_loopback(host):
        raise ProjectError(
            f"{host} can be reached from other computers, so a token is needed. Leave --token out, "
            "and one is generated"
        )
    return token


def web_address(host: str, port: int, token: str = "") -> str:
    """The address for a browser; the token lets it in."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}" + (f"/?token={token}" if token else "")


def own_names(host: str, port: int, more: Iterable[str] = ()) -> frozenset[str]:
    """Allowed Host headers."""
    names = {*LOOPBACK, *more}
    if not is_loopback(host) and host not in ("0.0.0.0", "::"):
        names.add(f"[{host}]" if ":" in host else host)
    with_port = {f"{name}:{port}" for name in names}
    return frozenset(with_port | names if port in (80, 443) else with_port)


class Guard:
    """Wraps the whole application.

    Parameters
    ----------
    app : the application
    names : allowed Host headers, with the port
    token : required once of every browser; None for none
    most : maximum bytes of a request
    any_address : True where the server listens on every address of this computer; then the
        address that a request came in by is one of its names
    """

    def __init__(
        self,
        app: ASGIApp,
        names: frozenset[str],
        token: str | None = None,
        most: int = 2**31,
        *,
        any_address: bool = False,
    ) -> None:
        self.app, self.names, self.token, self.most = app, names, token, most
        self.any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = headers_of(scope)
        refusal = self._refusal(scope, headers)
        if refusal:
            await _refuse(scope, receive, send, *refusal)
        elif self.token and scope["type"] == "http" and self._brings_token(scope):
            await self._welcome(scope, send)
        elif self.token and not self._knows_token(scope, headers):
            text = (
                "This workbench asks for a token: open the address that `hierseed serve` printed."
            )
            await _refuse(scope, receive, send, 401, text)
        else:
            await self.app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "").lower()
        if host not in self.names and not (self.any_address and host == _reached(scope)):
            return 403, "This host name is not allowed: use the address that the workbench printed."
        origin = headers.get("origin")
        changes = scope["type"] == "websocket" or scope.get("method") not in SAFE
        foreign = origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}")
        if foreign or (changes and origin is None):
            return 403, "Only pages of the workbench may do this."
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self.most:
            return 413, f"More than {self.most / 2**20:,.0f} MB in one request is not accepted."
        return None

    def _brings_token(self, scope: Scope) -> bool:
        given = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"))).get("token", "")
        return hmac.compare_digest(given.encode(), (self.token or "").encode())

    def _knows_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(_cookie(scope))
        except CookieError:
            return False
        given = cookie.value if cookie else ""
        return hmac.compare_digest(given.encode(), (self.token or "").encode())

    async def _welcome(self, scope: Scope, send: Send) -> None:
        """Put the token into a cookie and out of the address, where it would be seen."""
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        rest = urlencode([pair for pair in query if pair[0] != "token"])
        path = scope["path"] if not scope["path"].startswith("//") else "/"
        target = path + (f"?{rest}" if rest else "")
        # Lax, not Strict: a link in a mail or a note must open the page. What can change something
        # is protected by its Origin.
        cookie = f"{_cookie(scope)}={self.token}; Path=/; HttpOnly; SameSite=Lax"
        headers = [
            (b"location", target.encode("latin-1", "ignore")),
            (b"set-cookie", cookie.encode()),
        ]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request as text."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def _reached(scope: Scope) -> str:
    """The address and port of this computer that a request came in by."""
    host, port = scope.get("server") or ("", 0)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _cookie(scope: Scope) -> str:
    """The name of the cookie: two projects on one computer have two ports."""
    return f"{COOKIE}_{(scope.get('server') or ('', 0))[1]}"


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message.get("headers", []), *added]
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": text[:120]})
        return
    body: Any = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    headers += [(name.encode(), value.encode()) for name, value in HEADERS.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
