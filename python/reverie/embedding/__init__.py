"""Embeddings of texts, computed here from weights that are on the disk: an optional part, and nothing is downloaded."""

from reverie.embedding.embedder_interface_and_loading import Embedder, configured, folder_of, open_embedder
from reverie.embedding.quantized_message_vector_table import Vectors

__all__ = ["Embedder", "Vectors", "configured", "folder_of", "open_embedder"]
