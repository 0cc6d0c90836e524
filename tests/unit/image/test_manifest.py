from __future__ import annotations

from pathlib import Path

import pytest

from stacks.core.disk import sha256_of
from stacks.core.errors import IntegrityError
from stacks.image import manifest


def test_files_changed_after_the_layout_are_an_error(tmp_path: Path) -> None:
    one, other = tmp_path / "packages", tmp_path / "settings"
    (one / "lib").mkdir(parents=True)
    (one / "lib/a").write_text("a")
    (one / "lib/b").symlink_to("a")
    other.mkdir()
    (other / "c").write_text("c")
    manifest.write(tmp_path, [one, other])
    found = {"lib/a": sha256_of(one / "lib/a"), "lib/b": "a", "c": sha256_of(other / "c")}
    manifest.check(tmp_path, found)
    for changed, name in (
        ({**found, "lib/a": "0" * 64}, "lib/a"),
        ({**found, "lib/b": "c"}, "lib/b"),
        ({**found, "new": "0" * 64}, "new"),
        ({k: v for k, v in found.items() if k != "c"}, "c"),
    ):
        with pytest.raises(IntegrityError) as caught:
            manifest.check(tmp_path, changed)
        assert caught.value.what.startswith(f"1 files of {tmp_path} changed")
        assert caught.value.found == name
        assert caught.value.fix and f"rm -r {tmp_path}" in caught.value.fix


@pytest.fixture
def layers(tmp_path: Path) -> list[Path]:
    """Give two layers with a folder of the same name, and their manifest."""
    layers = [tmp_path / "packages", tmp_path / "settings"]
    for layer in layers:
        (layer / "opt/bin").mkdir(parents=True)
        (layer / "opt/bin/file").touch()
        (layer / "opt/link").symlink_to("nowhere")
    manifest.write(tmp_path, layers)
    return layers


@pytest.mark.parametrize("name", ["opt/bin/file", "opt/bin", "opt"])
@pytest.mark.parametrize("layer", [0, 1])
def test_a_changed_mode_of_any_layer_is_seen(
    tmp_path: Path, layers: list[Path], layer: int, name: str
) -> None:
    assert manifest.has_modes(tmp_path, layers)
    (layers[layer] / name).chmod(0o700)
    assert not manifest.has_modes(tmp_path, layers)


@pytest.mark.parametrize("text", [None, "", "[]", '{"lib/a": "0123"}', '{"modes": 1}'])
def test_a_manifest_without_modes_is_of_no_layers(
    tmp_path: Path, layers: list[Path], text: str | None
) -> None:
    (tmp_path / manifest.NAME).unlink()
    if text is not None:
        (tmp_path / manifest.NAME).write_text(text)
    assert not manifest.has_modes(tmp_path, layers)
