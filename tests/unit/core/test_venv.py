from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from stacks.core import console, venv
from stacks.core.disk import sha256_of
from stacks.core.process import CommandError


def test_a_lock_is_installed_once_for_each_content_into_a_venv_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[object]] = []
    monkeypatch.setattr(venv, "call", lambda words, **_: commands.append(words))
    lock, folder = tmp_path / "requirements-docs.lock", tmp_path / "docs"
    folder.mkdir()
    for text in ("a", "a", "b"):
        lock.write_text(text)
        assert venv.prepare_tools(lock, folder) == folder / "bin/python"
        assert (folder / "stamp-docs").read_text() == sha256_of(lock)
    make, install, again = commands
    assert make == [sys.executable, "-I", "-m", "venv", "--clear", folder]
    assert install == again
    assert install[:4] == [folder / "bin/python", "-I", "-m", "pip"]
    assert install[-2:] == ["-r", lock] and "--require-hashes" in install
    assert capsys.readouterr().err.count("installing requirements-docs.lock") == 2
    # One without the stamp is the rest of a killed process.
    (folder / "stamp-docs").unlink()
    venv.prepare_tools(lock, folder)
    assert commands[3] == make


def test_a_long_installation_is_no_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, lines = tmp_path / "requirements-docs.lock", list[str]()
    lock.touch()
    reading, writing = os.pipe()
    with os.fdopen(reading) as log, os.fdopen(writing, "w") as file:
        monkeypatch.setattr(console, "BEAT", 0.05)
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
        monkeypatch.setattr(sys, "stderr", file)
        monkeypatch.setattr(
            venv, "call", lambda *_, **__: lines.extend(log.readline() for _ in "ab")
        )
        venv.prepare_tools(lock)
    assert lines[1] == "  installing requirements-docs.lock ... 0 s\n"


def test_what_pip_lacks_is_named_without_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(words: list[object], env: dict[str, str]) -> None:
        # Whatever the user's pip configuration says of other folders.
        assert env["PIP_USER"] == "0"
        assert words[-4:] == ["--find-links", "/carried", "-r", lock]
        raise CommandError("pip install -r ...\nnoise\nERROR: no versions\nERROR: no furo")

    monkeypatch.setattr(venv, "call", fail)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    lock = tmp_path / "requirements-docs.lock"
    lock.touch()
    with pytest.raises(CommandError, match="pip could not install") as it:
        venv.prepare_tools(lock, options=["--find-links", "/carried"])
    assert it.value.found == "ERROR: no versions\n            ERROR: no furo"
    assert "without a network, ./invoke vendor" in str(it.value.fix)
    assert not (tmp_path / "stamp-docs").exists()
