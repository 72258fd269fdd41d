"""Files of watched folders that join a run: which runs they belong to, and who wrote them as far as that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from reverie.store import RunRecord
from reverie.usecases import privacy, runs
from reverie.usecases import projects as use_projects
from reverie.usecases.by import By, writes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.git import Checkout
    from reverie.store import Reader, RunFileRecord, Writer


class Watch(NamedTuple):
    """The files to look for at a run's end: since when, in which watched folders, by which agent, without which.

    `agent` is None where other runs of the same project were open meanwhile: then nobody knows who wrote a file.
    """

    since: str
    agent: str | None
    folders: list[str]
    ignored: list[str]
    pauses: list[tuple[str, str | None]]


def watch(reader: Reader, run_id: str, folders: Sequence[tuple[str, Checkout]]) -> Watch | None:
    """Return what to look for at the end of a run; None for one that has ended, or that no watched folder concerns.

    `folders` are the watched ones with the repository of each. A run of a project has the folders of that project, one
    without a project has them all. Raises NotFound.
    """
    run = runs.get(reader, run_id)
    if run.state != "running":
        return None
    projects = use_projects.known(reader)
    concerned = []
    for folder, checkout in folders:
        project = use_projects.find(projects, checkout)
        if run.project is None or (project is not None and project.name == run.project):
            concerned.append(folder)
    if not concerned:
        return None
    others = (other for _, other in reader.records(RunRecord) if other.id != run.id)
    shared = any(
        (other.completed_at is None or other.completed_at > run.created_at)
        and (other.project is None or run.project is None or other.project == run.project)
        and other.agent != run.agent
        for other in others
    )
    settings = privacy.settings(reader)
    return Watch(
        run.created_at, None if shared else run.agent, concerned, list(settings.ignored), list(settings.pauses)
    )


@writes("run.file")
def join(to: Writer, _: By, run_id: str, files: Sequence[RunFileRecord]) -> int:
    """Add files of watched folders to a run, and return how many were added.

    What a call of the API has handed over stands, and so does what an earlier look has found in the same words. Nothing
    is added to a run that has ended.
    """
    run = runs.get(to, run_id)
    if run.state != "running":
        return 0
    files_by_path = {file.path: file for file in runs.files_of(to, run_id)}
    added = 0
    for file in files:
        before = files_by_path.get(file.path)
        if before is None or (before.source == "folder" and before.sha256 != file.sha256):
            to.save(file, runs.file_key(run_id, file.path))
            added += 1
    if added:
        to.save(replace(run, updated_at=to.at), (run_id,))
    return added
