"""Memory documents: parse a markdown text into items, and turn changes of items into the smallest edits of it."""

from reverie.documents.create_append_and_change_items import apply_changes, new_document
from reverie.documents.front_matter import session_of
from reverie.documents.item_and_change_types import (
    Add,
    Change,
    ChangedDocument,
    Delete,
    Item,
    ParsedDocument,
    Update,
    Wording,
)
from reverie.documents.memory_layout_types_and_conflict_copy_names import DocumentKind, is_conflict_copy, kind_of
from reverie.documents.parser import ITEMS_MAX, has_too_many_items, ids_of_items, items_by_id, parse_document
from reverie.documents.revert_one_document_change import revert_change
from reverie.documents.summary_and_updated_lines import refresh_header
from reverie.documents.update_own_lines_of_memory_md import DocumentEntry, update_memory_list

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
