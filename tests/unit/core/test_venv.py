from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stacks.core import venv
from stacks.core.disk import sha256_of
from stacks.core.process import CommandError


def test_a_lock_is_installed_once_for_each_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[object]] = []
    monkeypatch.setattr(venv, "call", lambda words, **_: commands.append(words))
    lock = tmp_path / "requirements-test.lock"
    for text in ("a", "a", "b"):
        lock.write_text(text)
        venv.prepare_tools(tmp_path, lock)
        assert (tmp_path / "stamp-test").read_text() == sha256_of(lock)
    assert len(commands) == 2
    assert commands[0][:4] == [sys.executable, "-I", "-m", "pip"] and commands[0][-2:] == [
        "-r",
        lock,
    ]
    assert "--require-hashes" in commands[0]
    assert capsys.readouterr().err.count("installing requirements-test.lock") == 2


def test_what_another_process_installs_meanwhile_is_not_installed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "requirements-test.lock"
    lock.touch()

    @contextmanager
    def wait(target: Path, what: str) -> Iterator[None]:
        assert target == tmp_path / "stamp-test"
        assert what == f"{tmp_path.name} with requirements-test.lock"
        target.write_text(sha256_of(lock))
        yield

    monkeypatch.setattr(venv, "hold_lock", wait)
    monkeypatch.setattr(venv, "call", lambda words: pytest.fail("installed"))
    venv.prepare_tools(tmp_path, lock)


def test_what_pip_lacks_is_named_without_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(words: list[object], env: dict[str, str]) -> None:
        # Whatever the user's pip configuration says of other folders.
        assert env["PIP_USER"] == "0"
        assert words[-4:] == ["--find-links", "/carried", "-r", tmp_path / "requirements-docs.lock"]
        raise CommandError("pip install -r ...\nnoise\nERROR: no versions\nERROR: no furo")

    monkeypatch.setattr(venv, "call", fail)
    (tmp_path / "requirements-docs.lock").touch()
    with pytest.raises(CommandError, match="pip could not install") as it:
        venv.prepare_tools(
            tmp_path, tmp_path / "requirements-docs.lock", options=["--find-links", "/carried"]
        )
    assert it.value.found == "ERROR: no versions\n            ERROR: no furo"
    assert "without a network, ./invoke vendor" in str(it.value.fix)
    assert not (tmp_path / "stamp-docs").exists()


def test_a_venv_of_its_own_is_made_once_and_again_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[object]] = []
    monkeypatch.setattr(venv, "call", lambda words, **_: commands.append(words))
    lock, folder = tmp_path / "requirements-docs.lock", tmp_path / "docs"
    lock.write_text("a")
    folder.mkdir()
    for _ in range(2):
        assert venv.prepare_environment(folder, lock) == folder / "bin/python"
    make, install = commands
    assert make == [sys.executable, "-I", "-m", "venv", "--clear", folder]
    assert install[:4] == [folder / "bin/python", "-I", "-m", "pip"]
    (folder / "stamp-docs").unlink()
    venv.prepare_environment(folder, lock)
    assert commands[2] == make
