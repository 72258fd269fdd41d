"""The program that agents' clients run as a hook, compiled for this platform."""

from __future__ import annotations

from reverie import _native


def program() -> bytes:
    """Return the program's bytes; empty where it could not be compiled."""
    return _native.hook_program()
