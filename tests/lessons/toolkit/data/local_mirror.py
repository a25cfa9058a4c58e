"""A mirror on this machine that can misbehave on request."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What a mirror does with one request: (mirror, request, path, whole file)
Manner = Callable[["Mirror", BaseHTTPRequestHandler, str, bytes], None]


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that hang up on a misbehaving mirror, as the tests expect."""


class Mirror:
    """A server of `files` (path → bytes) that records the path of every request."""

    def __init__(self, files: dict[str, bytes], manner: Manner | None = None) -> None:
        self.files = files
        self.manner = manner or good
        self.requests: list[str] = []
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.lstrip("/")
                mirror.requests.append(path)
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


def head(request: BaseHTTPRequestHandler, length: int) -> None:
    request.send_response(200)
    request.send_header("Content-Length", str(length))
    request.end_headers()


def good(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
    head(request, len(data))
    request.wfile.write(data)


def changed(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
    good(mirror, request, path, bytes([data[0] ^ 1]) + data[1:])


def forbidden(mirror: Mirror, request: BaseHTTPRequestHandler, path: str, data: bytes) -> None:
    request.send_error(403)
