"""`publish`: which results it takes, keeps, names and refuses, and when its files are stale."""

from pathlib import Path
from typing import Any

import pytest

from stacks.bench import store
from stacks.bench.result import MeasuredPackage, Result, Subject
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.timings import beside, command
from stacks.timings.command import current_locks
from stacks.timings.survey import view as build
from stacks.timings.view import CurrentLock
from unit.helpers.benching import BASE, FAST, ON_DEVICE, result, runs
from unit.helpers.publishing import GEMM, WITH_PEAK, at, keep, site, timings


def test_the_error_without_results_has_a_fix(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no results to publish\n  fix: .*\./invoke bench"):
        command.publish(at(tmp_path))
    assert not (tmp_path / "site").exists()
    command.check(at(tmp_path))


def test_bad_results_are_named_and_left_out_and_the_rest_is_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = keep(tmp_path)
    (good.parent / "cut.json").write_text(good.read_text()[:99])
    other = WITH_PEAK.model_copy(update={"cpu": "Elsewhere"})
    misplaced = keep(tmp_path, machine=other, began="2026-11-22T05:30:00Z")
    for act in (command.publish, command.check):
        with pytest.raises(UsageError, match="published without 2 of 3 results") as raised:
            act(at(tmp_path))
        assert raised.value.exit_code == 2
        messages = capsys.readouterr().err
        assert f"left out: {good.parent}/cut.json: its JSON is cut off" in messages
        assert f"left out: {misplaced}: another machine than the first of its folder" in messages
        assert messages.count("\n  fix:      ") == 2
    assert "**2.50**" in timings(tmp_path)
    assert "Elsewhere" not in timings(tmp_path) + site(tmp_path)


def test_a_result_of_another_machine_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    keep(here)
    # Another processor, by the same name.
    other = keep(there, machine=WITH_PEAK.model_copy(update={"model": "9 9 9"}))
    for _ in range(2):
        command.add(at(here), [other])
    assert "results/here-2-cores-2/" in capsys.readouterr().err
    assert len(list((here / "results").rglob("*.json"))) == 2
    command.publish(at(here))
    assert "Every measure on here-2-cores-2: 2 environments" in site(here)
    other.write_text(other.read_text()[:99])
    with pytest.raises(UsageError, match="its JSON is cut off"):
        command.add(at(here), [other])
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        command.add(at(here), [tmp_path / "missing.json"])


def test_a_result_that_cannot_be_shown_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rendered(*_: object) -> dict[Path, str]:
        raise ValueError("a picture that is none")

    monkeypatch.setattr(command, "rendered", rendered)
    with pytest.raises(ValueError, match="a picture that is none"):
        command.add(at(tmp_path), saved(tmp_path / "new", one=of_one(FAST, 5.0)))
    assert not (tmp_path / "results").exists()


def of_one(subject: Subject, speed: float, **more: Any) -> Result:
    found = runs(subject, [speed] * 7, name=GEMM)
    return result(found, subject.model_copy(update=more), machine=WITH_PEAK)


def saved(folder: Path, **results: Result) -> list[Path]:
    folder.mkdir()
    for name, one in results.items():
        (folder / f"{name}.json").write_text(one.model_dump_json(by_alias=True))
    return sorted(folder.iterdir())


def test_of_several_files_with_a_bad_one_none_is_taken(tmp_path: Path) -> None:
    paths = saved(tmp_path / "new", good=of_one(FAST, 5.0), worse=of_one(BASE, 2.0))
    text = paths[1].read_text()
    paths[1].write_text(text.replace("[2.0]", "[NaN]", 1))
    report = tmp_path / "new/report.json"
    report.write_text('{"schema":2,"ok":true,"checks":[]}')
    expected = (
        r"worse\.json: not a result(.|\n)*report\.json: not a result\n +found: +a report of verify"
        r"(.|\n)*fix: +nothing was taken"
    )
    with pytest.raises(UsageError, match=expected):
        command.add(at(tmp_path), [*paths, report])
    assert not (tmp_path / "results").exists()


def test_packages_that_are_not_of_the_lock_are_refused(own_workspace: Workspace) -> None:
    name, lock = next(iter(current_locks(own_workspace).items()))
    framework, _, flavour = name.partition("/")
    mine = FAST.model_copy(update={"framework": framework, "flavour": flavour, "lock": lock.sha256})
    folder = own_workspace.root / "new"
    (path,) = saved(folder, one=of_one(mine, 5.0))
    with pytest.raises(UsageError, match=rf"its packages of {name} are not those of the lock"):
        command.add(own_workspace, [path])
    packages = tuple(
        MeasuredPackage(name=name, version="1", sha256=sha256) for name, sha256 in lock.digests
    )
    path.write_text(of_one(mine, 5.0, packages=packages).model_dump_json(by_alias=True))
    command.add(own_workspace, [path])
    assert len(list(own_workspace.results.rglob("*.json"))) == 1


def test_documents_that_differ_from_the_results_are_stale(tmp_path: Path) -> None:
    keep(tmp_path)
    with pytest.raises(StaleError, match=r"timings\.md, .*svg: not what results/ gives"):
        command.check(at(tmp_path))
    command.publish(at(tmp_path))
    command.check(at(tmp_path))
    later = keep(tmp_path, began="2026-11-22T05:30:00Z")
    with pytest.raises(StaleError, match=r"fix: .*\./invoke publish"):
        command.check(at(tmp_path))
    later.unlink()
    page = tmp_path / "site/index.html"
    page.write_text(site(tmp_path) + " ")
    with pytest.raises(StaleError, match=r"index\.html: not what"):
        command.check(at(tmp_path))
    # It is not committed.
    page.unlink()
    command.check(at(tmp_path))
    for path in (tmp_path / "results").rglob("*.json"):
        path.unlink()
    with pytest.raises(StaleError, match="remove these files"):
        command.check(at(tmp_path))


def test_results_that_no_figure_comes_from_are_pruned_and_others_packed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    superseded = keep(tmp_path)
    newest = keep(tmp_path, began="2026-11-22T05:30:00Z")
    command.publish(at(tmp_path))
    before = timings(tmp_path), site(tmp_path)
    for _ in range(2):
        command.prune(at(tmp_path))
    output = capsys.readouterr()
    assert output.err.splitlines() == [f"removed: {superseded}"]
    assert output.out.splitlines()[-2:] == ["1 result kept of 2", "1 result kept of 1"]
    (packed,) = (tmp_path / "results").rglob("*.*")
    assert packed.name == f"{newest.name}.xz" and packed.stat().st_size < 2_000
    command.publish(at(tmp_path))
    assert (timings(tmp_path), site(tmp_path)) == before
    keep(tmp_path)
    whole = packed.read_bytes()
    for damaged in (whole[:-9], b"{}", whole[:30] + b"?" + whole[31:]):
        packed.write_bytes(damaged)
        with pytest.raises(UsageError, match="published without 1 of 2 results"):
            command.prune(at(tmp_path))
        assert "json.xz: cannot be read" in capsys.readouterr().err
    assert len([*(tmp_path / "results").rglob("*.*")]) == 2


def test_a_lock_that_has_changed_since_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path)
    found = [*runs(BASE, [2.0] * 7, name=GEMM), *runs(ON_DEVICE, [5.0] * 7, name=GEMM)]
    store.write(at(tmp_path), result(found, BASE, ON_DEVICE, machine=WITH_PEAK))
    (tmp_path / "envs").mkdir()
    # The machine with the device may be gone.
    locks = {one.id: CurrentLock("a" * 64, 1) for one in (BASE, FAST)}
    locks[ON_DEVICE.id] = CurrentLock("f" * 64, 1)
    monkeypatch.setattr(command, "current_locks", lambda workspace: locks)
    command.publish(at(tmp_path))
    command.check(at(tmp_path))
    assert "theano-1.0.5/device&Dagger;" in timings(tmp_path)
    locks[FAST.id] = CurrentLock("f" * 64, 1)
    command.publish(at(tmp_path))
    with pytest.raises(StaleError, match=r"^theano-1\.0\.5/fast: the lock has changed") as raised:
        command.check(at(tmp_path))
    assert "./invoke bench --all" in str(raised.value)


def test_the_committed_ones_are_what_the_results_give(workspace: Workspace) -> None:
    stored, errors = store.read_all(workspace)
    assert not errors
    view = build(
        stored,
        current_locks(workspace),
        beside.REPORTS.read_all(workspace)[0],
        beside.SAMPLERS.read_all(workspace)[0],
        beside.SAMPLINGS.read_all(workspace)[0],
    )
    *committed, (_, page) = command.rendered(view, workspace.root).items()
    assert [path.read_text() == text for path, text in committed] == [True, True]
    # Nothing in results/ is superseded, and all that readers open is small.
    assert {one.path for one in stored} == {one.stored.path for one in view.sessions}
    text = committed[0][1]
    assert len(text.split()) <= 1_300 and len(page.encode()) <= 300_000
    # It answers first.
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads[:2] == ["## Which flavour?", "## Which framework?"]
    assert heads[2].startswith("## All flavours on ") and heads[-1] == "## How it was measured"
    assert page.index('aria-labelledby="answers"') < page.index('aria-labelledby="all"')
