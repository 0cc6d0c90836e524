"""What the builder has written of an environment is read whole, or refused."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from unit.helpers import environments
from verify.core import expectation

GOOD = {
    **environments.expectation(),
    "blas": {"name": "openblas", "ldflags": "-lopenblas", "libraries": ["libopenblas*"]},
    "packages": [{"name": "numpy", "version": "1", "sha256": "00", "manager": "pip"}],
}


@pytest.mark.parametrize("change", [{}, {"blas": None}, {"accelerator": ["theano-stacks"]}])
def test_a_valid_file_is_read_whole(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "expect.json"
    path.write_text(json.dumps({**GOOD, **change}))
    assert expectation.load(str(path)) == {**GOOD, **change}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"schema": 2}, "schema: expected 1, found 2"),
        ({"extra": 1}, "extra is unknown"),
        ({"accelerator": "theano-stacks"}, "accelerator has the wrong type: 'theano-stacks'"),
        ({"baseline": "no"}, "baseline has the wrong type: 'no'"),
        ({"blas": {"name": "x"}}, "blas.ldflags is missing"),
        ({"packages": [{"name": "numpy"}]}, "packages[0].manager is missing"),
        ({"packages": ["numpy"]}, "packages[0].expected an object"),
        ("{", "not JSON: "),
        ("[" * 200_000, "not JSON: "),
        (None, "No such file or directory"),
        # It would never end.
        (os.mkfifo, "not a regular file"),
    ],
)
def test_an_invalid_file_is_refused_by_key(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "expect.json"
    if isinstance(content, dict):
        path.write_text(json.dumps({**GOOD, **content}))
    elif isinstance(content, str):
        path.write_text(content)
    elif content:
        content(path)
    with pytest.raises(expectation.ExpectationError) as caught:
        expectation.load(str(path))
    assert str(caught.value).startswith(f"{path}: {message}")


def test_every_changed_byte_of_a_sealed_file_is_noticed(tmp_path: Path) -> None:
    path, content = tmp_path / "file.json", {"b\u00e9": [1, "two"]}
    path.write_bytes(whole := expectation.sealed_text(content))
    digest, read = expectation.read_sealed(str(path))
    assert read == content and digest in path.read_text().splitlines()[0]
    changes = [b"", b"\n", b"{}", b"[]\n{}", b"\xff\n\xff", b"[" * 100000]
    changes.extend(
        whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))
    )
    for changed in changes:
        path.write_bytes(changed)
        with pytest.raises(expectation.SealError, match="is damaged"):
            expectation.read_sealed(str(path))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(expectation.SealError, match="is not a regular file"):
        expectation.read_sealed(str(path))
    with pytest.raises(expectation.SealError, match="is missing"):
        expectation.read_sealed(str(tmp_path / "none/file.json"))
