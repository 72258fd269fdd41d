"""Memory documents: parse a markdown text into items, and turn changes of items into the smallest edits of it."""

from reverie.documents.edit import apply_changes, new_document
from reverie.documents.header import refresh_header
from reverie.documents.index import DocumentEntry, update_memory_list
from reverie.documents.items import Add, Change, ChangedDocument, Delete, Item, ParsedDocument, Update, Wording
from reverie.documents.layout import DocumentKind, is_conflict_copy, kind_of, session_of
from reverie.documents.parse import ITEMS_MAX, has_too_many_items, ids_of_items, items_by_id, parse_document
from reverie.documents.revert import revert_change

__all__ = [
    "ITEMS_MAX",
    "Add",
    "Change",
    "ChangedDocument",
    "Delete",
    "DocumentEntry",
    "DocumentKind",
    "Item",
    "ParsedDocument",
    "Update",
    "Wording",
    "apply_changes",
    "has_too_many_items",
    "ids_of_items",
    "is_conflict_copy",
    "items_by_id",
    "kind_of",
    "new_document",
    "parse_document",
    "refresh_header",
    "revert_change",
    "session_of",
    "update_memory_list",
]
