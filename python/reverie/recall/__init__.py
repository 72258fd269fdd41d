"""A query to the memories that answer it, each with its reasons."""

from reverie.recall.corpus import Corpus, Hit, build
from reverie.recall.line import line
from reverie.recall.query import query_for

__all__ = ["Corpus", "Hit", "build", "line", "query_for"]
