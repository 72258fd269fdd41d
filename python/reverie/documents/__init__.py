"""Memory documents as pages of items: what a text says, and how changes of it become the smallest edits of the text."""

from reverie.documents.changes import Add, Change, Changed, Delete, Update, Wording
from reverie.documents.document_kind import Form, form_of, is_conflict_copy
from reverie.documents.listing import DocumentEntry, relisted
from reverie.documents.parsed_document import Item, Page
from reverie.documents.read import ITEMS_MAX, holds_too_many, read
from reverie.documents.refresh import refreshed
from reverie.documents.revert import taken_back
from reverie.documents.write import changed, fresh

__all__ = [
    "ITEMS_MAX",
    "Add",
    "Change",
    "Changed",
    "Delete",
    "DocumentEntry",
    "Form",
    "Item",
    "Page",
    "Update",
    "Wording",
    "changed",
    "form_of",
    "fresh",
    "holds_too_many",
    "is_conflict_copy",
    "read",
    "refreshed",
    "relisted",
    "taken_back",
]
