"""Results on disk: whole, never replaced, checked when they are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from stacks.bench import command, store
from stacks.bench.store import BadResultError
from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from unit.helpers.benching import BASE, FAST, MACHINE, result, run, runs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return tmp_path / "results"


def written(folder: Path, **more: Any) -> Path:
    found = [*runs(BASE, [1.0, 2.0]), *runs(FAST, [3.0, 4.0])]
    return store.write(FIXME_results(folder), result(found, BASE, FAST, **more))


def test_what_is_written_is_read_again(workspace: Workspace, folder: Path) -> None:
    path = written(workspace, folder)
    assert path.parent.name == "here-2-cores"
    assert store.write(FIXME_results(folder), store.read(path)) == path
    content = json.loads(path.read_bytes())
    jsonschema.validate(
        content, json.loads((REPOSITORY / "results/result.schema.json").read_text())
    )


def test_nothing_is_ever_replaced(workspace: Workspace, folder: Path) -> None:
    # The same second: a clock may have been set back.
    first, second = written(workspace, folder), written(workspace, folder, seconds=61.0)
    assert first != second and first.is_file() and second.is_file()


def test_of_a_broken_one_is_told_and_the_others_are_read(
    workspace: Workspace, folder: Path
) -> None:
    good = written(workspace, folder)
    text = good.read_text()
    (good.parent / "cut.json").write_text(text[: len(text) // 2])
    (good.parent / "new.json").write_text(text.replace('"schema":1', '"schema":2'))
    (good.parent / "odd.json").write_text(text.replace('"unit":"GFLOP/s"', '"unit":"furlong"', 1))
    (good.parent / "more.json").write_text(text.replace('"remarks"', '"host":"mine","remarks"'))
    (good.parent / "nan.json").write_text(text.replace("[3.0]", "[NaN]"))
    lone = text.replace('"flavour":"fast"', '"flavour":"slow"')
    (good.parent / "who.json").write_text(lone)
    found, bad = store.read_all(FIXME_results(folder))
    assert [one.path for one in found] == [good]
    said = {error.what.partition(": ")[0].rpartition("/")[2]: str(error) for error in bad}
    assert "not whole" in said["cut.json"]
    assert "of another schema\n  found:    2\n  fix:      this program reads" in said["new.json"]
    assert "runs.0.series.0.unit" in said["odd.json"]
    assert "host" in said["more.json"]
    assert "not a result" in said["nan.json"]
    assert "theano-1.0.5/fast, which is not among its subjects" in said["who.json"]


def test_a_file_that_cannot_be_read(folder: Path) -> None:
    with pytest.raises(BadResultError, match="cannot be read: No such file"):
        store.read(folder / "none.json")


def test_two_machines_of_one_name(workspace: Workspace, folder: Path) -> None:
    written(workspace, folder)
    other = MACHINE.model_copy(update={"memory": 64 << 30})
    assert store.name_for(FIXME_results(folder), MACHINE, None) == "here-2-cores"
    assert store.name_for(FIXME_results(folder), other, None) == "here-2-cores-2"
    with pytest.raises(UsageError, match="has results of another machine"):
        store.name_for(FIXME_results(folder), other, "here-2-cores")
    assert store.name_for(FIXME_results(folder), other, "mine") == "mine"
    for name in ("../mine", "My box", ".x"):
        with pytest.raises(UsageError, match="small letters"):
            store.name_for(FIXME_results(folder), other, name)


def test_a_machine_is_the_same_after_a_new_kernel() -> None:
    update = {"kernel": "6.2", "microcode": "0x2", "memory": MACHINE.memory - (100 << 20)}
    assert MACHINE.same_hardware(MACHINE.model_copy(update=update))
    assert not MACHINE.same_hardware(MACHINE.model_copy(update={"model": "1 2 4"}))


def test_a_result_that_was_copied_into_another_machines_folder_is_told(
    workspace: Workspace, folder: Path
) -> None:
    path = written(workspace, folder)
    other = written(
        workspace, folder, machine=MACHINE.model_copy(update={"cores": 64}), seconds=1.0
    )
    found, _ = store.read_all(FIXME_results(folder))
    (said,) = store.mixed(found)
    assert str(max(path, other)) in said and "of another machine" in said


def test_the_results_are_shown_with_what_is_wrong(
    workspace: Workspace,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = written(workspace, folder, remarks=("other programs were busy",))
    (path.parent / "cut.json").write_text("{")
    read_all = store.read_all
    monkeypatch.setattr(store, "read_all", lambda: read_all(folder))
    command.show_results(workspace)
    said = capsys.readouterr()
    assert "Here, 2 cores; 7 rounds, begun 2026-11-21T05:30:00Z" in said.out
    assert "note: other programs were busy" in said.out
    assert "warning: " in said.err and "not whole" in said.err
    with pytest.raises(UsageError, match="no results"):
        command.show_results(workspace, "other")


def test_no_figure_that_is_none_is_taken() -> None:
    for samples in ((), (float("nan"),), (float("inf"),)):
        with pytest.raises(ValueError, match="samples"):
            run(BASE, 1, *samples)
