"""The base of HTTP handlers of local servers: it logs nothing, so that a test's output is its own."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any


class QuietHandler(BaseHTTPRequestHandler):
    """A request handler without a log, and without a look-up of the client's name."""

    def address_string(self) -> str:
        return "local"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Log nothing."""

    def send_body(self, data: bytes, media: str = "application/json", status: int = 200) -> None:
        """Send a whole response of one media type."""
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
