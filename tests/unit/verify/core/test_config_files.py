"""What sets a flag."""

import importlib
from pathlib import Path

import pytest

from unit.helpers.verification import context

config_files = importlib.import_module("verify.core.config_files")


def test_flags_are_split_as_the_frameworks_split_them() -> None:
    assert config_files.flags_of("a=1,blas.ldflags='-lx -ly', blas__b=2,junk") == {
        "a": "1",
        "blas.ldflags": "-lx -ly",
        "blas.b": "2",
    }


def test_flags_end_at_a_quotation_without_an_end() -> None:
    assert config_files.flags_of("a=1,base_compiledir=/home/o'neil") == {"a": "1"}


def test_the_last_file_wins_and_flags_come_before_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = tmp_path / "first", tmp_path / "last"
    first.write_text("[blas]\nldflags = -la\n")
    last.write_text("# mine\n[blas]\nldflags: -lb\n")
    monkeypatch.setenv("THEANORC", f"{first}:{last}")
    assert config_files.source_of(context(), "blas.ldflags") == (str(last), "-lb")
    named = context(user_flags="blas.ldflags=-lc")
    assert config_files.source_of(named, "blas.ldflags") == ("THEANO_FLAGS", "-lc")
    assert config_files.source_of(context(), "floatX") == (None, None)


def test_the_last_configuration_file_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THEANORC", "/etc/theanorc:/home/me/theanorc")
    assert config_files.config_file(context()) == "/home/me/theanorc"
    monkeypatch.delenv("THEANORC")
    assert config_files.config_file(context()) == "~/.theanorc"


def test_sections_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "theanorc"
    assert config_files.sections_of(str(path)) == []
    path.write_text("[global]\ncxx = x\n# [no]\n[blas]\n")
    assert config_files.sections_of(str(path)) == ["global", "blas"]
