"""`/v1/projects/{project}/brief`: the brief of a project, and what a person does with its lines."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reverie import wire
from reverie.api.briefs import Briefs
from reverie.usecases.briefs import brief_answer
from reveried.actions import briefs
from reveried.http.openapi import TEXT
from reveried.http.route import serves
from reveried.http.types import Reply

if TYPE_CHECKING:
    from reveried.http.types import Call


@serves(Briefs.brief)
async def get_brief(call: Call) -> Reply:
    """Return the brief of a project: its lines, or the text that agents are shown."""
    query = call.query_as(wire.BriefQuery)
    project = await briefs.project_name(call.services, call.space, call.params["project"])
    if query.format == "text":
        text = await briefs.brief_text(call.services, call.space, project, max_tokens=query.max_tokens)
        return Reply(body=text.encode(), media=TEXT)
    brief = await briefs.brief(call.services, call.space, project, max_tokens=query.max_tokens)
    cost = await briefs.model_cost(call.services, call.space)
    return Reply(replace(brief_answer(brief), model_tokens_per_session=cost))


@serves(Briefs.change_brief_line, once=True)
async def change_line(call: Call) -> wire.BriefLineChanged:
    """Drop a line of a brief, keep it as a memory, or correct its words; undo reverts each."""
    request = call.into(wire.ChangeBriefLine)
    project = await briefs.project_name(call.services, call.space, call.params["project"])
    answer = await briefs.change_line(
        call.services,
        dataclasses.replace(call.by, author="agent" if call.agent is not None else "person"),
        project,
        call.params["id"],
        request,
    )
    if answer.memory is None:
        return answer
    with call.services.store.reader(call.space) as reader:
        return replace(answer, memory=call.services.accesses.with_access(reader, answer.memory))
