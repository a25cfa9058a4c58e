"""A portal like OnDemand's on loopback: it serves a page and forwards /node/HOST/PORT/… to HOST.

As in the Apache configuration that OnDemand generates, the server behind it sees its own name as
Host, and the paths of its cookies and the addresses of its redirects are rewritten.
"""

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tornado import httpclient, httpserver, iostream, web, websocket

NODE = r"/node/([^/]+)/(\d+)(?:/.*)?"
OWN = {"connection", "content-encoding", "content-length", "transfer-encoding", "host", "upgrade"}


def handed_on(headers) -> dict[str, str]:
    kept = (name for name in headers if name.lower() not in OWN)
    return {name: headers[name] for name in kept if not name.lower().startswith("sec-websocket")}


class Node(websocket.WebSocketHandler):
    behind: websocket.WebSocketClientConnection | None = None

    async def get(self, host: str, port: str) -> None:
        if self.request.headers.get("Upgrade", "").lower() == "websocket":
            await self.open_behind(host, port)
            await super().get(host, port)
        else:
            await self.hand_on(host, port)

    async def open_behind(self, host: str, port: str) -> None:
        asked = self.request.headers.get("Sec-WebSocket-Protocol", "")
        self.protocols = [name.strip() for name in asked.split(",") if name.strip()]
        self.behind = await websocket.websocket_connect(
            httpclient.HTTPRequest(
                f"ws://{host}:{port}{self.request.uri}", headers=handed_on(self.request.headers)
            ),
            subprotocols=self.protocols or None,
        )

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        return self.behind.selected_subprotocol

    def check_origin(self, origin: str) -> bool:
        return True  # the server behind the portal decides

    def open(self, *_: str) -> None:
        self.reading = asyncio.ensure_future(self.read_behind())

    async def read_behind(self) -> None:
        while (message := await self.behind.read_message()) is not None:
            await self.write_message(message, binary=isinstance(message, bytes))
        self.close()

    async def on_message(self, message: str | bytes) -> None:
        await self.behind.write_message(message, binary=isinstance(message, bytes))

    def on_close(self) -> None:
        if self.behind:
            self.behind.close()

    async def hand_on(self, host: str, port: str) -> None:
        answer = await httpclient.AsyncHTTPClient().fetch(
            f"http://{host}:{port}{self.request.uri}",
            method=self.request.method,
            headers=handed_on(self.request.headers),
            body=self.request.body or None,
            allow_nonstandard_methods=True,
            follow_redirects=False,
            raise_error=False,
            request_timeout=60,
        )
        self.set_status(answer.code, answer.reason)
        self.clear_header("Content-Type")
        for name, value in answer.headers.get_all():
            if name.lower() == "location":
                value = re.sub("^[^/]+//[^/]+", "", value)
            elif name.lower() == "set-cookie":
                value = re.sub(r"(?i);\s*(Domain|Path)[^;]*", "", value)
                value = re.sub("^([^;]+)", rf"\1; Path=/node/{host}/{port}", value)
            if name.lower() not in OWN:
                self.add_header(name, value)
        if answer.code not in (204, 304):
            self.write(answer.body)
        with suppress(iostream.StreamClosedError):  # the browser has left the page in the meantime
            await self.finish()

    post = put = patch = delete = hand_on

    def check_xsrf_cookie(self) -> None:
        pass


class Page(web.RequestHandler):
    def get(self) -> None:
        self.write("<!doctype html><title>Portal</title>" + self.settings["page"].read_text())


@contextmanager
def portal(page: Path) -> Iterator[str]:
    """Yield the address of a portal whose only page has the file's content at that time."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.setblocking(False)
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        httpclient.AsyncHTTPClient.configure(None, max_clients=100, max_body_size=10**9)
        server = httpserver.HTTPServer(web.Application([("/", Page), (NODE, Node)], page=page))
        server.add_socket(listening)

    loop.run_until_complete(serve())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
