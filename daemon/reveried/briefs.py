"""The brief of a project: what its sessions taught, in about a thousand tokens, for a session that begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie.context.neutralize_markup import neutralize_markup
from reverie.count_and_truncate_tokens import count
from reverie.documents.project_document_paths import PERSON, memory_project
from reverie.models import MemoryType
from reverie.store import MemoryRecord
from reveried.execute_use_cases import read

if TYPE_CHECKING:
    from reverie.store import Reader
    from reveried.services import Services

__all__ = ["brief_text"]

MAX_TOKENS: Final = 1_000


async def brief_text(
    services: Services, space: str, project: str, *, max_tokens: int | None = None, with_last: bool = True
) -> str:
    """Return the brief of a project as text of at most `max_tokens`, empty where nothing is known of it.

    `with_last`: with the lines on the last session.
    """
    budget = MAX_TOKENS if max_tokens is None else max_tokens

    def memories(reader: Reader) -> list[MemoryRecord]:
        found = [record for _, record in reader.records(MemoryRecord)]
        return [record for record in found if memory_project(record) in {project, PERSON}]

    records = await read(services, space, memories)
    wanted = [record for record in records if record.type is not MemoryType.EPISODE]
    wanted.sort(key=lambda record: (record.trust != "person", memory_project(record) == PERSON, record.id))
    lines: list[str] = []
    for record in wanted:
        lines.append(f"- {neutralize_markup(' '.join(record.content.split()))} ({record.created_at[:10]})")
        if count("\n".join(lines)) > budget:
            lines.pop()
            break
    return "\n".join(lines)
