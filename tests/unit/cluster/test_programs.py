from __future__ import annotations

import os
import socket
import subprocess
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


def test_a_module_is_not_taken_from_the_working_folder(tmp_path: Path) -> None:
    for name in ("argparse.py", "runpy.py"):
        (tmp_path / name).write_text("raise SystemExit('mine')")
    words = programs.module_command("json.tool", "--help")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    said = subprocess.check_output(words, cwd=tmp_path, env=env, text=True)
    assert said.startswith("usage: ")
