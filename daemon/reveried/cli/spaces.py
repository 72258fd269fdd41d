"""`reverie space`, `token`, `ignore`, `pause`, `resume`: spaces, access tokens, and what is kept out of the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from reverie import wire
from reverie.client import Client
from reverie.errors import ValidationError
from reveried.cli.command import Answer, Argument, Option
from reveried.cli.ids import all_items
from reveried.cli.output import print_table, say, when

Name = Annotated[str, Argument("NAME", "Lower-case letters, digits, _ and -; also its folder.")]


def space_create(client: Client, name: Name) -> Answer:
    """Create a space: threads, memories and a folder of its own, which no other space sees.

    Example: reverie space create work
    """
    try:
        body = wire.parse(wire.CreateSpace, {"id": name})
    except ValidationError as error:
        said = error.message.replace("`id`", "NAME")
        raise ValidationError(said, hint="give another name, such as work", field="NAME") from None
    space = client.create_space(body.id)
    yield space
    say(f"The space {space.id} is there; its files will be in {space.root}.")
    say(f"Next: reverie token create --space {space.id}")


def space_list(client: Client) -> Answer:
    """List the spaces and their folders.

    Example: reverie space list
    """
    items = list(all_items(client.spaces))
    yield wire.Page(items=items)
    print_table("Space, Folder*", [(item.id, item.root) for item in items])


def token_create(
    client: Client,
    space: Annotated[str, Option("--space", metavar="SPACE", help="The space that it opens.")] = "default",
    agent: Annotated[
        str | None, Option("--agent", metavar="AGENT", help="The agent that writes with it; without one, a person.")
    ] = None,
) -> Answer:
    """Create an access token for a space, and show it once.

    Example: reverie token create --space work --agent claude
    """
    token = client.create_token(space, agent=agent)
    yield token
    say(token.token or "")
    holder = f"the agent {token.agent}" if token.agent else "a person"
    say(f"This is the token of {holder} for the space {token.space}. It is shown this once: only its hash is stored.")
    say(
        f"Use it as REVERIE_TOKEN or --token, over HTTP as `Authorization: Bearer`. To end it: "
        f"reverie token revoke {token.id}"
    )


def token_list(client: Client) -> Answer:
    """List the valid tokens with their spaces and agents.

    Example: reverie token list
    """
    items = list(all_items(client.tokens))
    yield wire.Page(items=items)
    if not items:
        say("No tokens. One opens a space: reverie token create --space SPACE")
        return
    print_table(
        "Token, Space, Agent, Created",
        [(item.id, item.space, item.agent or "-", when(item.created_at)) for item in items],
        drop=(3,),
    )


def token_revoke(
    client: Client, token_id: Annotated[str, Argument("TOKEN_ID", "As reverie token list shows it.")]
) -> Answer:
    """Revoke a token: requests with it are refused at once, and its event streams end.

    Example: reverie token revoke tok_5d9c68c6c50ed3d0
    """
    client.revoke_token(token_id)
    yield {"revoked": token_id}
    say(f"The token {token_id} is revoked.")


def ignore(
    client: Client,
    path: Annotated[Path | None, Argument("[PATH]", "A folder; without one, the ignored folders are listed.")] = None,
    remove: Annotated[bool, Option("--remove", help="Record sessions in the folder again.")] = False,
) -> Answer:
    """Record no sessions in a folder and below it; lines of it are left out of imports too.

    Example: reverie ignore ~/diary
    """
    if path is None:
        answer = client.privacy()
    else:
        folder = str(path.expanduser().absolute())
        change = wire.ChangePrivacy(unignore=folder) if remove else wire.ChangePrivacy(ignore=folder)
        answer = client.change_privacy(change)
    yield answer
    if path is not None:
        say("Sessions there are recorded again." if remove else "Sessions there are not recorded any more.")
        if not remove:
            if not path.expanduser().is_dir():
                say(f"There is no folder {path.expanduser().absolute()} yet.")
            say("What is stored already stays. To look for it: reverie threads, reverie memories")
    elif not answer.ignored:
        say("No folder is ignored. Next: reverie ignore PATH")
    else:
        for folder in answer.ignored:
            say(folder)


def pause(client: Client) -> Answer:
    """Stop recording sessions; what is said until `reverie resume` is never stored, by no later import either.

    Example: reverie pause
    """
    yield client.change_privacy(wire.ChangePrivacy(paused=True))
    say("Recording is paused: no session is stored, and hooks show nothing. Tools that an agent calls go on.")
    say("To record again: reverie resume")


def resume(client: Client) -> Answer:
    """Record sessions again after `reverie pause`.

    Example: reverie resume
    """
    yield client.change_privacy(wire.ChangePrivacy(paused=False))
    say("Sessions are recorded again; what was said in the pause is left out.")
