"""The Reverie daemon and the `reverie` command."""

__all__ = ["PROTOCOL", "__version__"]

__version__ = "0.1.0"
PROTOCOL = 1
