"""Documents: the markdown files of a space, as the store has them."""

from reverie.wire.base import Reply

__all__ = ["Document", "DocumentText"]


class Document(Reply):
    """A file of the space's tree. `size` is in bytes; `etag` changes with every version."""

    path: str
    size: int
    etag: str
    updated_at: str
    version: int = 1
    summary: str = ""


class DocumentText(Document, kw_only=True):
    """A document with its text."""

    content: str
