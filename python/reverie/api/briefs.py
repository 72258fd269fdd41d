"""The brief of a project, and what a person does with its lines."""

from typing import Literal

from reverie.api.endpoint import Endpoint, at
from reverie.wire import brief as types
from reverie.wire.parsing import parse


def _text(*, max_tokens: int | None = None) -> types.BriefQuery:
    return types.BriefQuery("text", max_tokens)


def _change(action: Literal["keep", "drop", "edit"], text: str | None = None) -> types.ChangeBriefLine:
    """Return a change; `edit` needs a text. Raises ValidationError: it has none, or another action has one."""
    return parse(types.ChangeBriefLine, {"action": action} | ({} if text is None else {"text": text}))


class Briefs:
    """Operations on briefs."""

    # fmt: off
    brief = Endpoint("GET /v1/projects/{project}/brief", at(types.BriefQuery), types.Brief,
        "The brief of a project: what its sessions taught.", text=True)
    brief_text = brief.like(at(_text), str, "The brief of a project as the text that agents are shown.")
    change_brief_line = Endpoint("POST /v1/projects/{project}/brief/lines/{id}", at(at(_change)),
        types.BriefLineChanged, "Drops, keeps or corrects a line of a brief.")
