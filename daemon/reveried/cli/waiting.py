"""The client of the command line: it says when the daemon that it waits for does not answer."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar

from reverie.client import Client
from reveried.cli import unresponsive

if TYPE_CHECKING:
    from reverie.api.endpoint import Call

T = TypeVar("T")


class PatientClient(Client):
    """A client of the daemon; it prints one warning to standard error if no answer comes, and still waits."""

    _is_warned = False

    def send(self, call: Call[T]) -> T:
        """Send a prepared call and return its answer; warn once on standard error if the answer takes long."""
        if self._is_warned:
            return super().send(call)
        timer = threading.Timer(unresponsive.AFTER_S, self._warn)
        timer.daemon = True
        timer.start()
        try:
            return super().send(call)
        finally:
            timer.cancel()

    def _warn(self) -> None:
        self._is_warned = True
        unresponsive.warn_if_silent(str(self.socket_path))
