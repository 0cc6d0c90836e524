"""conda-lock is installed when it is first needed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stacks.core.process import CommandError
from stacks.core.venv import LOCKING_LOCK
from stacks.sources import conda_lock_tools
from stacks.sources.condarc import channel_address
from stacks.sources.vendored import VARIABLE


def test_it_comes_from_the_vendored_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    monkeypatch.setattr(
        conda_lock_tools,
        "prepare_tools",
        lambda venv, lock, options: calls.append((venv, lock, options)),
    )
    monkeypatch.delenv(VARIABLE, raising=False)
    conda_lock_tools.prepare_conda_lock()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    conda_lock_tools.prepare_conda_lock()
    carried = ["--no-index", "--find-links", str(tmp_path / "tools")]
    assert calls == [(Path(sys.prefix), LOCKING_LOCK, options) for options in ([], carried)]


def test_what_pip_lacks_is_no_fault_of_condas_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise CommandError("pip could not install requirements-locking.lock")

    monkeypatch.setattr(conda_lock_tools, "prepare_tools", fail)
    with pytest.raises(CommandError, match="pip could not install"):
        channel_address("conda-forge")
