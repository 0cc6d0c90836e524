from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.errors import FetchError, UsageError
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
        find_links=(str(tmp_path), str(tmp_path / "none"), "https://wheels", "file:/srv/wheels"),
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
        "UV_FIND_LINKS": f"{tmp_path},https://wheels,file:/srv/wheels",
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


UNKNOWN = (
    "error: No solution found when resolving dependencies\n"
    "  cause: Because zork was not found in the package registry and you require zork\n\n"
)


@pytest.mark.parametrize(
    ("output", "status"),
    [
        (
            f"{UNKNOWN}hint: An index URL (https://one/simple) could not be queried due to a lack "
            "of valid authentication credentials (401 Unauthorized)",
            401,
        ),
        (
            f"{UNKNOWN}hint: An index (https://one/simple) returned a 403 Forbidden error. Check "
            "that the index URL is correct and the credentials are valid.",
            403,
        ),
        (
            "WARNING: 401 Error, Credentials not correct for https://one/simple\n"
            "ERROR: Could not find a version that satisfies the requirement zork "
            "(from versions: none)",
            401,
        ),
    ],
)
def test_a_password_that_an_index_refuses_is_no_wrong_spelling(output: str, status: int) -> None:
    with pytest.raises(FetchError, match=rf"https://one/simple.* answered {status}") as caught:
        uv.raise_for_index(CommandError(f"uv\n{output}"), "stack.yaml")
    assert "password" in str(caught.value) and "spelling" not in str(caught.value)
    with pytest.raises(UsageError, match="no package index has zork"):
        uv.raise_for_index(CommandError(f"uv\n{UNKNOWN}"), "stack.yaml")
