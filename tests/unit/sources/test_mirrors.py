"""What pip's and conda's configuration say of indexes and channels."""

import hashlib
import os
import re
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, UsageError
from stacks.core.models import NAME
from stacks.sources.condarc import ChannelAddress, channel_address, conda_web
from stacks.sources.download import get_document
from stacks.sources.package_index import pip_settings
from stacks.sources.web import environment_web


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
    assert (settings.verify, settings.client_cert) == ("/ca.pem", "/me.pem")
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


def test_pip_variables_come_before_its_file_and_its_own_default_last(
    pip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip.write_text("[global]\nextra-index-url = https://x.test/simple\n")
    default, extra = pip_settings().index_urls
    assert default.startswith("https://") and extra == "https://x.test/simple"
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


@pytest.mark.parametrize("name", ["NETRC", "PIP_CERT", "SSL_CERT_FILE", "PIP_CONFIG_FILE"])
def test_a_pipe_for_which_all_would_wait_is_refused(
    pip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv(name, str(tmp_path / "pipe"))
    with pytest.raises(UsageError, match=f"^{tmp_path}/pipe is a pipe\n"):
        pip_settings()
    web = environment_web(threading.Event())
    with pytest.raises(UsageError, match="is a pipe"):
        get_document(replace(web, client_cert=str(tmp_path / "pipe")), "http://x.test/", "")


@pytest.mark.parametrize("text", ["[global]\ntimeout = soon\n", "no section\n"])
def test_a_configuration_that_pip_refuses_is_an_error(pip: Path, text: str) -> None:
    pip.write_text(text)
    with pytest.raises(FetchError, match=r"(?s)pip's configuration cannot be read.*config debug"):
        pip_settings()


@pytest.fixture
def rc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the path of the one condarc file that is read."""
    for name in list(os.environ):
        if name.startswith(("CONDA", "XDG_", "SSL_", "REQUESTS_", "CURL_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / ".condarc"


def test_a_name_is_below_the_alias(rc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    default = channel_address("conda-forge")
    assert default.name == "conda-forge" and default.url.endswith("/conda-forge")
    rc.write_text("channel_alias: https://mirror.example/conda\n")
    assert channel_address("conda-forge").url == "https://mirror.example/conda/conda-forge"
    monkeypatch.setenv("CONDA_CHANNEL_ALIAS", "https://other.example")
    assert channel_address("conda-forge").url == "https://other.example/conda-forge"
    assert channel_address("https://other.example/conda-forge").name == "conda-forge"
    other = rc.with_name("other.yml")
    other.write_text("custom_channels:\n  mine: https://example/all\n")
    monkeypatch.setenv("CONDARC", str(other))
    assert channel_address("mine") == ChannelAddress("mine", "https://example/all/mine")


@pytest.mark.parametrize(
    ("channel", "url", "label"),
    [
        ("https://example/a/b/", "https://example/a/b", "example-a-b-H"),
        ("http://localhost:8420/X_y", "http://localhost:8420/X_y", "localhost-8420-x-y-H"),
        ("file:///srv/channel", "file:///srv/channel", "srv-channel-H"),
        ("/srv/channel", "file:///srv/channel", "srv-channel-H"),
    ],
)
def test_an_address(rc: Path, channel: str, url: str, label: str) -> None:
    address = channel_address(channel)
    label = label.replace("H", hashlib.sha256(url.encode()).hexdigest()[:6])
    assert (address.name, address.url, address.label) == (url, url, label)


def test_a_label_of_a_channel_is_a_name_of_a_folder(rc: Path) -> None:
    assert channel_address("conda-forge").label == "conda-forge"
    named = {
        channel_address(name).label
        for name in (
            "conda-forge/label/old_1",
            "conda-forge/label/old-1",
            "conda-forge-label-old-1",
            "https://conda-forge/label/old-1",
            "http://conda-forge/label/old-1",
            "http://conda-forge/label/old.1",
        )
    }
    assert len(named) == 6, "two channels never share a label"
    assert all(re.fullmatch(NAME, name) for name in named)


@pytest.mark.parametrize(
    ("channel", "message"),
    [
        *((x, "is not one conda channel") for x in ("", "defaults", "ftp://h/c", "s3://bucket/c")),
        ("https://me:hunter2@example/c", "(?s)password.*netrc"),
        ("https://example/t/hunter2-is-it/c", "(?s)password.*netrc"),
    ],
)
def test_what_is_not_one_channel_or_has_a_password(rc: Path, channel: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        channel_address(channel)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["channel_alias: [1\n", "channel_alias: 3\n", "remote_max_retries: many\n"]
)
def test_a_configuration_that_cannot_be_read(rc: Path, text: str) -> None:
    rc.write_text(text)
    with pytest.raises(UsageError, match=r"conda's configuration|cannot be found") as caught:
        channel_address("conda-forge")
        conda_web(threading.Event(), "https://example/c")
    assert ".condarc" in str(caught.value)


def test_how_servers_are_reached(rc: Path) -> None:
    plain = conda_web(threading.Event(), "https://example/c")
    assert plain.verify is True and plain.proxy is None and plain.trusted_hosts == ()
    rc.write_text(
        "ssl_verify: false\nremote_max_retries: 7\n"
        "proxy_servers:\n  https: http://proxy:1\n  http://other: http://proxy:2\n"
    )
    arguments = conda_web(threading.Event(), "https://example:8/c")
    assert arguments.trusts("https://example:8/c/x") and not arguments.trusts("https://else/x")
    assert arguments.retries == 7 and arguments.proxy == "http://proxy:1"
    assert conda_web(threading.Event(), "http://other/c").proxy == "http://proxy:2"
    bundle = rc.with_name("bundle.pem")
    bundle.write_text("")
    rc.write_text(f"ssl_verify: {bundle}\n")
    assert conda_web(threading.Event(), "https://example/c").verify == str(bundle)
