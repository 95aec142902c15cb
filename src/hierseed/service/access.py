"""Access control: token, Host header and request size, checked before any route runs.

The token comes as `Authorization: Bearer`, as the password of `Basic` (Label Studio), or as
`?token=` (Annif, whose client takes only an address). Without a token the service accepts only
this computer, and the Host must be its own name; otherwise a web page could reach it by DNS
rebinding.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hmac
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect as Disconnected

from hierseed.app.security import headers_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Guard:
    """Wraps the whole application.

    Parameters
    ----------
    app : the application
    token : required of every request; "" for none
    names : allowed Host headers if there is no token
    most : maximum bytes of a request
    """

    def __init__(self, app: ASGIApp, token: str, names: frozenset[str], most: int) -> None:
        self.app, self.token, self.names, self.most = app, token, names, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = headers_of(scope)
        if not self.token and headers.get("host", "").lower() not in self.names:
            text = "this host name is not allowed: use the address that the service printed"
            await _refuse(send, 403, text)
        elif self.token and not self._has_token(scope, headers):
            text = "a token is required: send the header 'Authorization: Bearer TOKEN'"
            await _refuse(send, 401, text)
        else:
            await self._limited(scope, receive, send, headers.get("content-length", ""))

    def _has_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        tokens = [
            dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"))).get("token", "")
        ]
        kind, _, value = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            tokens.append(value.strip())
        elif kind.lower() == "basic":
            try:
                tokens.append(base64.b64decode(value).decode().partition(":")[2])
            except (binascii.Error, UnicodeDecodeError):
                return False
        return any(hmac.compare_digest(one.encode(), self.token.encode()) for one in tokens)

    async def _limited(self, scope: Scope, receive: Receive, send: Send, length: str) -> None:
        """Count the bytes; a request may omit its length."""
        received = int(length) if length.isdigit() and int(length) > self.most else 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            return {"type": "http.disconnect"} if received > self.most else message

        async def sending(message: Message) -> None:
            if received <= self.most:
                await send(message)

        if received <= self.most:
            with contextlib.suppress(Disconnected):
                await self.app(scope, counted, sending)
        if received > self.most:
            text = (
                f"more than {self.most / 2**20:,.0f} MB in one request is not accepted: send less"
            )
            await _refuse(send, 413, text)


async def _refuse(send: Send, status: int, message: str) -> None:
    body: dict[str, Any] = {"error": {"kind": "Refused", "message": message, "faults": []}}
    headers = [(b"content-type", b"application/json")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
