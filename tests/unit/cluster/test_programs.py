from __future__ import annotations

import socket
from pathlib import Path

import pytest

from stacks.cluster import programs
from stacks.core.errors import UsageError


def test_a_worker_has_one_thread_and_a_label(tmp_path: Path) -> None:
    words = programs.worker_command("tcp://s:1", "big", ["--interface", "ib0"])
    message = dict(zip(words[2::2], words[3::2], strict=False))
    assert words[:2] == ["distributed.cli.dask_worker", "tcp://s:1"]
    assert message["--nthreads"] == message["--nworkers"] == "1"
    assert words[words.index("--resources") + 1] == "theano-stacks=1 theano-stacks-machine-big=1"
    assert words[-2:] == ["--interface", "ib0"]
    boot = tmp_path / "boot_id"
    boot.write_text("1b-2c\n")
    assert programs.machine_label("", boot) == "theano-stacks-boot-1b-2c"
    assert (
        programs.machine_label("", tmp_path / "none")
        == f"theano-stacks-boot-{socket.gethostname()}"
    )
    with pytest.raises(UsageError, match="--name Big One: not the name of a machine"):
        programs.worker_command("tcp://s:1", "Big One")
    with pytest.raises(UsageError, match="--help: not the address of a scheduler"):
        programs.worker_command("--help", "")
