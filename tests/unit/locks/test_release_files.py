from __future__ import annotations

import pytest
from packaging.tags import Tag

from stacks.core.errors import UsageError
from stacks.locks import release_files


def test_a_wheel_without_a_name_whose_address_is_quoted() -> None:
    # As uv writes one with a local version, if the index quotes the +.
    wheel = {"url": "https://x.test/cpu/torch-2.0.0%2Bcpu-py3-none-any.whl#sha256=00"}
    assert release_files.name_of(wheel) == "torch-2.0.0+cpu-py3-none-any.whl"
    package = {"name": "torch", "wheels": [wheel]}
    assert release_files.best_file(package, {Tag("py3", "none", "any"): 1}) == wheel


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
    ranks = {Tag("py3", "none", "any"): 1, Tag("py2", "none", "any"): 2}
    assert release_files.best_file({"name": "b", "wheels": wheels}, ranks) == wheels[best]


def test_a_package_without_a_file_for_this_python() -> None:
    wheel = {"url": "https://host/b-2.0-cp310-cp310-win32.whl"}
    with pytest.raises(UsageError, match=r"b 2\.0: the index has no file for this Python"):
        release_files.best_file({"name": "b", "version": "2.0", "wheels": [wheel]}, {})


@pytest.mark.parametrize(
    ("file", "release"),
    [
        ("pyzmq-27.3.0-cp39-cp39-manylinux_2_17_x86_64.whl", ("pyzmq", "27.3.0")),
        ("backports.functools_lru_cache-1.6.6-py2.py3-none-any.whl",
         ("backports-functools-lru-cache", "1.6.6")),
        ("tornado-5.1.1.tar.gz", ("tornado", "5.1.1")),
        ("simplegeneric-0.8.1.zip", ("simplegeneric", "0.8.1")),
    ],
)  # fmt: skip
def test_release_of(file: str, release: tuple[str, str]) -> None:
    assert release_files.release_of(file) == release


def test_a_file_that_is_no_release() -> None:
    with pytest.raises(UsageError, match="its version cannot be read"):
        release_files.release_of("readme.txt")
