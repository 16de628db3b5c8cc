"""Serves a built folder on this machine, with the types of files that browsers ask for."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(SimpleHTTPRequestHandler):
    """Knows the types of modules and WebAssembly, whatever the system's list has, and lets browsers keep what they fetched."""

    extensions_map = {  # noqa: RUF012  # as in the base class
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".json": "application/json",
    }  # fmt: skip

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def log_message(self, format: str, *values: object) -> None:
        """Requests are not printed."""


def make_server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of the folder on 127.0.0.1. Port 0 is any free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, directory=str(folder)))
