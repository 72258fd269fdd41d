"""Memory documents as pages of items: what a text says, and how changes of it become the smallest edits of the text."""

from reverie.documents.form import Form, form_of, is_conflict_copy
from reverie.documents.page import Item, Page
from reverie.documents.read import read

__all__ = ["Form", "Item", "Page", "form_of", "is_conflict_copy", "read"]
