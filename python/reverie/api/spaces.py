"""Spaces, access tokens, projects, and what a person keeps out of the store."""

from types import NoneType

from reverie.api.endpoint import Endpoint, at, sent
from reverie.wire import spaces as types
from reverie.wire.base import ListQuery, NoQuery, Page


class Spaces:
    """Operations on spaces; those on tokens are the owner's alone."""

    # fmt: off
    spaces = Endpoint("GET /v1/spaces", ListQuery, Page[types.Space],
        "Lists the spaces with their folders; with a token only its own.")
    create_space = Endpoint("POST /v1/spaces", types.CreateSpace, types.Space, "Creates a space.", status=201)
    tokens = Endpoint("GET /v1/tokens", ListQuery, Page[types.Token],
        "Lists the valid tokens, without their secrets.")
    create_token = Endpoint("POST /v1/tokens", types.CreateToken, types.Token,
        "Creates an access token for a space; the secret is in this answer only.", status=201)
    revoke_token = Endpoint("DELETE /v1/tokens/{id}", at(NoQuery), NoneType, "Revokes a token.", status=204)
    projects = Endpoint("GET /v1/projects", types.ProjectsQuery, Page[types.Project], "Lists the projects.")
    sort_projects = Endpoint("POST /v1/projects/sort", NoQuery, types.ProjectsSorted,
        "Sorts the threads and memories of older releases into projects; undo moves the memories back.", long=True)
    privacy = Endpoint("GET /v1/privacy", NoQuery, types.Privacy, "What a person keeps out of the store.")
    change_privacy = Endpoint("PATCH /v1/privacy", sent(types.ChangePrivacy), types.Privacy,
        "Pauses the recording of sessions or goes on, ignores a folder or no longer.")
