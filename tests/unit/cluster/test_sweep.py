"""How the jobs of a sweep are shared among machines."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.cluster import sweep
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.jobs import Job, jobs_of
from stacks.variants.load import load_variant


def jobs(count: int) -> list[Job]:
    return jobs_of(["python", ":::", *map(str, range(count))], None)


@pytest.mark.parametrize(
    ("count", "at_once", "machines", "sizes"),
    [(8, 2, 2, [2, 2, 2, 2]), (3, 4, 2, [3]), (17, 1, 2, [3, 3, 3, 3, 3, 2]), (1, 1, 9, [1])],
)
def test_each_machine_gets_several_shares(
    count: int, at_once: int, machines: int, sizes: list[int]
) -> None:
    found = sweep.shares(jobs(count), at_once, machines)
    assert [len(share) for share in found] == sizes
    assert [job for share in found for job in share] == jobs(count)


def test_text_that_cannot_be_sent_is_named(
    own_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variant, logs = load_variant(own_workspace, "openblas"), tmp_path / "logs"
    every = jobs_of(["python", ":::", "\udce9"], None)
    with pytest.raises(UsageError, match="a word of the command of job 1 is not UTF-8"):
        sweep.sweep(own_workspace, "tcp://127.0.0.1:9", variant, every, 1, logs)
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with pytest.raises(UsageError, match="the name of this folder is not UTF-8"):
        sweep.sweep(own_workspace, "tcp://127.0.0.1:9", variant, jobs(1), 1, logs)
    assert not logs.exists()
