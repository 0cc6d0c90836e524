from __future__ import annotations

import stat
from pathlib import Path

import pytest

from stacks.core.errors import DiskError, UsageError
from stacks.core.user_config import UserConfig, config_path, read_config, write_config


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "theano-stacks" / "config.yaml"


def test_what_is_written_is_read(file: Path) -> None:
    assert read_config() == UserConfig()
    config = UserConfig(debian_mirror="https://me:hunter2@a.test/debian")
    write_config(config)
    assert read_config() == config
    first = file.read_bytes()
    write_config(config)
    assert file.read_bytes() == first


def test_only_the_user_can_read_it(file: Path) -> None:
    write_config(UserConfig(debian_mirror="https://me:hunter2@a.test/debian"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_empty_configuration_has_no_file(file: Path) -> None:
    write_config(UserConfig(debian_mirror="https://a.test/debian"))
    write_config(UserConfig())
    assert not file.exists()
    write_config(UserConfig())


@pytest.mark.parametrize("text", ["other: 1\n", "debian_mirror: 1\n", "[", "debian_mirror:\n"])
def test_an_invalid_file_is_an_error_with_its_line(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(UsageError, match=r"config\.yaml:\d+:\d+"):
        read_config()


def test_its_folder_follows_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config_path() == tmp_path / ".config" / "theano-stacks" / "config.yaml"


def test_without_a_home_nothing_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert read_config() == UserConfig()
    with pytest.raises(DiskError, match="XDG_CONFIG_HOME"):
        write_config(UserConfig())
