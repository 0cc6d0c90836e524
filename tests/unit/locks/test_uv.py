"""uv: the indexes that it asks, and which of a package's files is taken."""

from pathlib import Path

import pytest
from packaging.tags import Tag

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks import uv
from stacks.sources.package_index import PipSettings
from stacks.sources.pins import read_pins


def test_uv_asks_the_indexes_of_the_users_pip(tmp_path: Path, workspace: Workspace) -> None:
    pin = read_pins(workspace.sources_lock).file(uv.FILE)
    assert (pin.name, pin.version) == (uv.NAME, uv.VERSION)
    settings = PipSettings(
        index_urls=("https://one/simple", "https://two/simple"),
        find_links=(str(tmp_path), str(tmp_path / "none"), "https://wheels", "file:/srv/wheels"),
        trusted_hosts=("one",),
        verify="/ca.pem",
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
    settings = PipSettings(index_urls=(), find_links=("/wheels",))
    assert "UV_DEFAULT_INDEX" not in uv.environment(Workspace(tmp_path, tmp_path), settings, {})


def test_a_wheel_whose_address_is_quoted_and_one_for_another_python() -> None:
    # As uv writes one with a local version, if the index quotes the +.
    wheel = {"url": "https://x.test/cpu/torch-2.0.0%2Bcpu-py3-none-any.whl#sha256=00"}
    assert uv.name_of(wheel) == "torch-2.0.0+cpu-py3-none-any.whl"
    package = {"name": "torch", "wheels": [wheel]}
    assert uv.best_file(package, [Tag("py3", "none", "any")]) == wheel
    # One for another Python.
    wheel = {"url": "https://host/b-2.0-cp310-cp310-win32.whl"}
    with pytest.raises(UsageError, match=r"b 2\.0: the index has no file for this Python"):
        uv.best_file({"name": "b", "version": "2.0", "wheels": [wheel]}, [])


@pytest.mark.parametrize(
    ("files", "best"),
    [
        (["b-2-1-py3-none-any.whl", "b-2-10-py3-none-any.whl", "b-2-py3-none-any.whl"], 1),
        (["b-2-9-py3-none-any.whl", "b-2-py2.py3-none-any.whl"], 0),
        (["b-2-9-py2-none-any.whl", "b-2-1-py3-none-any.whl"], 1),
    ],
)
def test_of_two_build_tags_the_higher_is_chosen(files: list[str], best: int) -> None:
    wheels = [{"url": f"https://host/{name}"} for name in files]
    tags = [Tag("py3", "none", "any"), Tag("py2", "none", "any")]
    assert uv.best_file({"name": "b", "wheels": wheels}, tags) == wheels[best]
