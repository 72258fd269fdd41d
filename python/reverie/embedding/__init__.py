"""Embeddings of texts, computed here from weights that are on the disk: an optional part, and nothing is downloaded."""

from reverie.embedding.embedder import Embedder, configured, folder_of, open_embedder
from reverie.embedding.table import Vectors

__all__ = ["Embedder", "Vectors", "configured", "folder_of", "open_embedder"]
