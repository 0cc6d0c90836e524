from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from stacks.image import compressed, normalised


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "root/etc").mkdir(parents=True)
    (tmp_path / "root/etc/passwd").write_text("root\n")
    normalised.normalise(tmp_path / "root")
    with (tmp_path / "base.tar").open("wb") as out:
        normalised.write(tmp_path / "root", out)
    return tmp_path / "base.tar"


def test_long_layers_are_compressed_in_parts(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressed, "CHUNK", 1000)
    (tmp_path / "out").mkdir()
    [layer] = compressed.compress(base, (), tmp_path / "out")
    data = (tmp_path / "out/base").read_bytes()
    assert gzip.decompress(data) == base.read_bytes()
    assert (layer.size, layer.digest) == (len(data), f"sha256:{hashlib.sha256(data).hexdigest()}")
