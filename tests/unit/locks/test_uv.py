from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.process import CommandError
from stacks.core.workspace import Workspace
from stacks.locks import uv
from stacks.sources.mirrors import PipSettings
from stacks.sources.pins import read_pins


def test_uv_is_pinned(workspace: Workspace) -> None:
    pin = read_pins(workspace.sources_lock).file(uv.FILE)
    assert (pin.name, pin.version) == (uv.NAME, uv.VERSION)


def test_uv_asks_the_indexes_of_the_users_pip(tmp_path: Path) -> None:
    settings = PipSettings(
        index_urls=("https://one/simple", "https://two/simple"),
        find_links=("/wheels",),
        trusted_hosts=("one",),
        cert="/ca.pem",
        timeout=30.0,
    )
    variables = {"PATH": "/bin", "UV_INDEX": "https://elsewhere", "UV_PYTHON": "3.8"}
    assert uv.environment(Workspace(tmp_path, tmp_path), settings, variables) == {
        "PATH": "/bin",
        "UV_CACHE_DIR": f"{tmp_path}/uv",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://one/simple",
        "UV_INDEX": "https://two/simple",
        "UV_FIND_LINKS": "/wheels",
        "UV_INSECURE_HOST": "one",
        "UV_HTTP_TIMEOUT": "30",
        "SSL_CERT_FILE": "/ca.pem",
    }


def test_no_index_at_all(tmp_path: Path) -> None:
    settings = PipSettings(index_urls=(), find_links=("/wheels",))
    variables = uv.environment(Workspace(tmp_path, tmp_path), settings, {})
    assert variables["UV_NO_INDEX"] == "1" and "UV_DEFAULT_INDEX" not in variables


def test_uvs_explanation_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "uv"
    program.write_text("#!/bin/sh\necho 'a asks for b' >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(uv, "pip_settings", lambda: PipSettings(index_urls=("https://one",)))
    with pytest.raises(CommandError, match="a asks for b"):
        uv.compile_lock(Workspace(tmp_path, tmp_path), program, tmp_path, "pylock.toml", [])
