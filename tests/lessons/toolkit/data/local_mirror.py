"""A mirror on this machine that can misbehave on request."""

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What a mirror does with one request: (mirror, request, path, whole file)
Manner = Callable[["Mirror", BaseHTTPRequestHandler, str, bytes], None]


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that hang up on a misbehaving mirror, as the tests expect."""


class Mirror:
    """A server of `files` (path → bytes) that records every request as (path, Range)."""

    def __init__(self, files: dict[str, bytes], manner: Manner | None = None) -> None:
        self.files = files
        self.manner = manner or good
        self.requests: list[tuple[str, str | None]] = []
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.lstrip("/")
                mirror.requests.append((path, self.headers["Range"]))
                if path not in mirror.files:
                    self.send_error(404)
                    return
                mirror.manner(mirror, self, path, mirror.files[path])

            def log_message(self, *_: object) -> None:
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def head(request: BaseHTTPRequestHandler, length: int, start: int = 0, total: int = 0) -> None:
    request.send_response(206 if start else 200)
    if start:
        request.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
    request.send_header("Content-Length", str(length))
    request.end_headers()


def good(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
    asked = request.headers["Range"]
    start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
    head(request, len(data) - start, start, len(data))
    request.wfile.write(data[start:])


def without_range(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
    head(request, len(data))
    request.wfile.write(data)


def cut_first(then: Manner) -> Manner:
    """Break off in the middle of the first answer for each file."""

    def manner(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
        if [seen for seen, _ in mirror.requests].count(path) > 1:
            then(mirror, request, path, data)
            return
        head(request, len(data))
        request.wfile.write(data[: len(data) // 2])

    return manner


def changed(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
    good(mirror, request, path, bytes([data[0] ^ 1]) + data[1:])


def endless(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
    head(request, 1 << 40)
    for _ in range(1000):
        request.wfile.write(bytes(1 << 20))


def stalls(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
    head(request, len(data))
    request.wfile.write(data[: len(data) // 2])
    request.wfile.flush()
    time.sleep(30)


def trickles(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
    head(request, len(data))
    for i in range(len(data)):
        request.wfile.write(data[i : i + 1])
        time.sleep(0.02)


def busy(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
    request.send_error(503)


def forbidden(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
    request.send_error(403)
