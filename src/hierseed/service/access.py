"""Who may come in, and with how much: checked before any route sees a request.

The token comes as `Authorization: Bearer`, as the password of `Basic` (Label Studio), or as
`?token=` (Annif, whose client knows only an address). Without a token the service is for this
computer alone, and the Host must be its own: a page of another site that re-points its name at
this machine would reach it otherwise.
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

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Guard:
    """Wraps the whole application.

    Parameters
    ----------
    app : the application
    token : asked of every request; "" for none
    names : what the Host header may say where there is no token
    most : bytes that a request may bring
    """

    def __init__(self, app: ASGIApp, token: str, names: frozenset[str], most: int) -> None:
        self.app, self.token, self.names, self.most = app, token, names, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        if not self.token and headers.get("host", "").lower() not in self.names:
            text = "this name is not one of the service: use the address that it printed"
            await _refuse(send, 403, text)
        elif self.token and not self._has_token(scope, headers):
            text = "a token is asked for: send the header 'Authorization: Bearer TOKEN'"
            await _refuse(send, 401, text)
        else:
            await self._limited(scope, receive, send, headers.get("content-length", ""))

    def _has_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        given = [dict(parse_qsl(scope.get("query_string", b"").decode("latin-1"))).get("token", "")]
        kind, _, value = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            given.append(value.strip())
        elif kind.lower() == "basic":
            try:
                given.append(base64.b64decode(value).decode().partition(":")[2])
            except (binascii.Error, UnicodeDecodeError):
                return False
        return any(hmac.compare_digest(one.encode(), self.token.encode()) for one in given)

    async def _limited(self, scope: Scope, receive: Receive, send: Send, length: str) -> None:
        """Count the bytes: a request may not say its length."""
        taken = int(length) if length.isdigit() and int(length) > self.most else 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return {"type": "http.disconnect"} if taken > self.most else message

        async def sending(message: Message) -> None:
            if taken <= self.most:
                await send(message)

        if taken <= self.most:
            with contextlib.suppress(Disconnected):
                await self.app(scope, counted, sending)
        if taken > self.most:
            text = f"more than {self.most / 2**20:,.0f} MB at once is not taken: send less"
            await _refuse(send, 413, text)


async def _refuse(send: Send, status: int, message: str) -> None:
    body: dict[str, Any] = {"error": {"kind": "Refused", "message": message, "faults": []}}
    headers = [(b"content-type", b"application/json")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
