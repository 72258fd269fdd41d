"""Memory for AI agents that survives distillation: the library's public names."""

from reverie.errors import ReverieError

__all__ = ["ReverieError"]
