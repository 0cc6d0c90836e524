from __future__ import annotations

from pathlib import Path

from stacks.environments.make.build import copying_note, device_of, lines_of_repair


def test_a_note_if_the_cache_is_on_another_file_system() -> None:
    devices = {Path("/cache"): 1, Path("/here/environment"): 2}
    note = copying_note(Path("/cache"), Path("/here/environment"), devices.__getitem__)
    assert note == (
        "note: the cache /cache is on another file system than /here/environment: files are "
        "copied, not shared (set THEANO_STACKS_CACHE to a folder on the same file system to "
        "share them)"
    )


def test_no_note_if_both_are_on_one_file_system(tmp_path: Path) -> None:
    assert copying_note(tmp_path / "cache", tmp_path / "no/such/folder") is None


def test_device_of_a_missing_path_is_that_of_its_nearest_parent(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file/below", "missing/below"):
        assert device_of(tmp_path / name) == tmp_path.stat().st_dev


def test_a_repair_lists_its_files() -> None:
    assert lines_of_repair({"lib/b": "extra", "bin/a": "changed"}) == [
        "put back: bin/a (changed)",
        "moved away: lib/b (extra)",
    ]


def test_a_repair_of_thousands_of_files_lists_the_first_ones() -> None:
    lines = lines_of_repair({f"lib/{number:04}": "missing" for number in range(5611)})
    assert (len(lines), lines[0]) == (12, "put back: lib/0000 (missing)")
    assert lines[-2:] == ["put back: lib/0010 (missing)", "and 5,600 more"]
