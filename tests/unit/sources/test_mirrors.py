from __future__ import annotations

import os
from pathlib import Path

import pytest

from stacks.core.errors import FetchError
from stacks.sources.mirrors import pip_settings


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty configuration file that is the only one that pip reads."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    return tmp_path / "pip.conf"


def test_pip_configuration_is_read_from_its_file(pip: Path) -> None:
    pip.write_text(
        "[global]\n"
        "index-url = https://user:secret@first.test/simple\n"
        "extra-index-url = https://second.test/simple\n"
        "    https://third.test/simple\n"
        "find-links = /wheels\n"
        "trusted-host = second.test\n"
        "cert = /ca.pem\nclient-cert = /me.pem\nproxy = http://proxy.test:3128\n"
        "timeout = 7\nretries = 2\n"
        "[install]\nretries = 3\n"
    )
    settings = pip_settings()
    assert settings.index_urls == (
        "https://user:secret@first.test/simple",
        "https://second.test/simple",
        "https://third.test/simple",
    )
    assert settings.find_links == ("/wheels",)
    assert settings.trusted_hosts == ("second.test",)
    assert (settings.cert, settings.client_cert) == ("/ca.pem", "/me.pem")
    assert (settings.proxy, settings.timeout) == ("http://proxy.test:3128", 7.0)
    assert settings.retries == 3


def test_a_module_in_the_users_folder_is_not_taken_for_pythons(
    pip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logging.py").write_text("raise SystemExit('mine')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pip.write_text("[global]\nindex-url = https://first.test/simple\n")
    assert pip_settings().index_urls == ("https://first.test/simple",)


def test_pip_variables_come_before_its_file(pip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip.write_text(
        "[global]\nindex-url = https://file.test/simple\nextra-index-url = https://x.test\n"
        "find-links = /wheels /more\n"
    )
    monkeypatch.setenv("PIP_INDEX_URL", "https://variable.test/simple")
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "99")
    settings = pip_settings()
    assert settings.index_urls == ("https://variable.test/simple", "https://x.test")
    assert settings.timeout == 99.0
    monkeypatch.setenv("PIP_NO_INDEX", "true")
    settings = pip_settings()
    assert (settings.index_urls, settings.find_links) == ((), ("/wheels", "/more"))


def test_without_an_index_it_is_pips_own_default(pip: Path) -> None:
    pip.write_text("[global]\nextra-index-url = https://x.test/simple\n")
    default, extra = pip_settings().index_urls
    assert default.startswith("https://") and extra == "https://x.test/simple"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("./wheels", "{cwd}/wheels"),
        ("~/wheels", "{home}/wheels"),
        ("/wheels", "/wheels"),
        ("https://x.test/wheels", "https://x.test/wheels"),
        ("file:wheels", "file:wheels"),
    ],
)
def test_find_links_are_absolute_as_others_run_in_other_folders(
    pip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, path: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    expected = (path.format(cwd=tmp_path, home="/home/me"),)
    pip.write_text(f"[global]\nfind-links = {text}\n")
    assert pip_settings().find_links == expected
    pip.write_text("")
    monkeypatch.setenv("PIP_FIND_LINKS", text)
    assert pip_settings().find_links == expected


@pytest.mark.parametrize("text", ["[global]\ntimeout = soon\n", "no section\n"])
def test_a_configuration_that_pip_refuses_is_an_error(pip: Path, text: str) -> None:
    pip.write_text(text)
    with pytest.raises(FetchError, match=r"(?s)pip's configuration cannot be read.*config debug"):
        pip_settings()
