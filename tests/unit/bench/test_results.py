"""Results: what they may contain, their files, those of images put together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from stacks.bench import merge, store
from stacks.bench import profile as profiles
from stacks.bench.result import Peak, Result, Run, Subject
from stacks.bench.rows import rows
from stacks.bench.store import BadResultError
from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from unit.helpers.benching import (
    BASE,
    FAST,
    MACHINE,
    OTHER,
    QUIET,
    beside_loops,
    missing,
    result,
    run,
    runs,
    written,
)
from unit.helpers.profiles import case, profile, row, tables
from unit.helpers.publishing import SLOW


def test_a_machine_is_the_same_after_a_new_kernel() -> None:
    update = {"kernel": "6.2", "microcode": "0x2", "memory": MACHINE.memory - (100 << 20)}
    assert MACHINE.same_hardware(MACHINE.model_copy(update=update))
    assert not MACHINE.same_hardware(MACHINE.model_copy(update={"model": "1 2 4"}))


def test_samples_must_be_finite_numbers() -> None:
    for samples in ((), (float("nan"),), (float("inf"),)):
        with pytest.raises(ValueError, match="samples"):
            run(BASE, 1, *samples)


def test_a_result_from_before_there_were_busy_loops_is_of_an_idle_machine() -> None:
    one = result([run(BASE, 1, 2.0)], BASE)
    content = one.model_dump(by_alias=True)
    del content["settings"]["busy"], content["runs"][0]["busy"]
    assert Result.model_validate(content) == one and one.settings.busy == one.runs[0].busy == 0


def test_a_number_of_busy_loops_is_stored() -> None:
    (one,) = beside_loops([run(BASE, 1, 2.0)])
    assert Run.model_validate_json(one.model_dump_json()).busy == 2
    with pytest.raises(ValueError, match="busy"):
        Run.model_validate({**one.model_dump(), "busy": -1})


def test_a_variant_has_the_name_of_a_flavour_or_a_stack() -> None:
    content = BASE.model_dump()
    for name in ("pip-default", "mkl@conda-forge", "my-model", "2_x+y.z"):
        assert Subject.model_validate({**content, "flavour": name}).flavour == name
    for name in ("", "mkl\x01", "mkl ", "a/b", "..", "mkl@", "<b>", "Mkl"):
        for key in ("framework", "flavour"):
            with pytest.raises(ValueError, match=key):
                Subject.model_validate({**content, key: name})


def _numbers_and_texts(content: Any) -> list[tuple[Any, Any]]:
    """Return each place in a document that has a number or a text: its holder and its key."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content)
    found = []
    for key, value in pairs:
        if isinstance(value, (dict, list, tuple)):
            found += _numbers_and_texts(value)
        elif isinstance(value, (int, float, str)) and not isinstance(value, bool):
            found.append((content, key))
    return found


def test_no_number_is_endless_and_no_text_has_control_characters() -> None:
    series = {"profile": SLOW, "compile": 1.0, "graph": "g"}
    noisy = QUIET.model_copy(update={"frequency": 1.0})
    runs = [run(BASE, 1, 2.0, **series).model_copy(update={"noise": noisy, "start": 1})]
    peak = Peak(dtype="float64", threads=2, gflops=10.0)
    one = result(runs, BASE, missing=(missing(BASE),), remarks=("noise",))
    one = one.model_copy(
        update={
            "machine": one.machine.model_copy(update={"peak": (peak,)}),
            "settings": one.settings.model_copy(update={"quota": 1.5}),
        }
    )
    content = json.loads(one.model_dump_json(by_alias=True))
    places = _numbers_and_texts(content)
    assert len(places) > 70
    for holder, key in places:
        before = holder[key]
        for value in ["a\x01", "a\ufffe"] if isinstance(before, str) else [10**400, 1e300]:
            holder[key] = value
            with pytest.raises(ValidationError):
                Result.model_validate_json(json.dumps(content))
        holder[key] = before
    assert Result.model_validate_json(json.dumps(content)) == one


@pytest.fixture
def workspace(own_workspace: Workspace) -> Workspace:
    return own_workspace


def test_a_written_result_is_read_again(workspace: Workspace) -> None:
    path = written(workspace)
    assert path.parent.name == "here-2-cores"
    assert store.write(workspace, store.read(path)) == path
    content = json.loads(path.read_bytes())
    jsonschema.validate(
        content, json.loads((REPOSITORY / "results/result.schema.json").read_text())
    )


def test_no_result_is_ever_replaced(workspace: Workspace) -> None:
    # The same second: a clock may have been set back.
    first, second = written(workspace), written(workspace, seconds=61.0)
    assert first != second and first.is_file() and second.is_file()


def test_a_broken_result_is_named_and_the_others_are_read(workspace: Workspace) -> None:
    good = written(workspace)
    text = good.read_text()
    (good.parent / "cut.json").write_text(text[: len(text) // 2])
    (good.parent / "new.json").write_text(text.replace('"schema":1', '"schema":2'))
    (good.parent / "odd.json").write_text(text.replace('"unit":"GFLOP/s"', '"unit":"furlong"', 1))
    (good.parent / "more.json").write_text(text.replace('"remarks"', '"host":"mine","remarks"'))
    (good.parent / "nan.json").write_text(text.replace("[3.0]", "[NaN]"))
    (good.parent / "less.json").write_text(text.replace("[3.0]", "[-3.0]"))
    (good.parent / "bell.json").write_text(text.replace('"Here"', '"He\\u0007re"'))
    (good.parent / "latin.json").write_bytes(text.encode().replace(b'"Here"', b'"H\xe9re"'))
    (good.parent / "large.json").write_bytes(text.encode() + b" " * (50 << 20))
    (good.parent / "link.json").symlink_to(good)
    (good.parent / "folder.json").mkdir()
    (good.parent.parent / "linked").symlink_to(good.parent)
    lone = text.replace('"flavour":"fast"', '"flavour":"slow"')
    (good.parent / "who.json").write_text(lone)
    found, bad = store.read_all(workspace)
    assert [one.path for one in found] == [good]
    output = {
        error.what.partition(": ")[0].rpartition("/")[2]: str(error)
        for error in bad
        if "/linked/" not in error.what
    }
    assert "cut off or broken" in output["cut.json"]
    assert "another schema\n  found:    2\n  fix:      this version reads" in output["new.json"]
    assert "runs.0.series.0.unit" in output["odd.json"]
    assert "host" in output["more.json"]
    assert "samples.0\n  found:    Input should be a finite number" in output["nan.json"]
    assert "samples.0\n  found:    Input should be greater than" in output["less.json"]
    assert "machine.cpu\n  found:    not one line without control characters" in output["bell.json"]
    assert "not UTF-8\n  found:    'utf-8' codec can't decode byte 0xe9" in output["latin.json"]
    assert "too large for a result\n  expected: at most 32 MiB" in output["large.json"]
    assert "link.json is a symbolic link" in output["link.json"]
    assert "not a file" in output["folder.json"]
    assert "linked is a symbolic link" in str(bad[-1])
    assert all("\n  fix:      " in str(error) for error in bad)
    assert "theano-1.0.5/fast, which is not among its subjects" in output["who.json"]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadResultError, match="cannot be read: No such file"):
        store.read(tmp_path / "none.json")


def test_two_machines_of_one_name(workspace: Workspace) -> None:
    written(workspace)
    other = MACHINE.model_copy(update={"memory": 64 << 30})
    assert store.name_for(workspace, MACHINE, None) == "here-2-cores"
    assert store.name_for(workspace, other, None) == "here-2-cores-2"
    with pytest.raises(UsageError, match="has results of another machine"):
        store.name_for(workspace, other, "here-2-cores")
    assert store.name_for(workspace, other, "mine") == "mine"
    for name in ("../mine", "My box", ".x"):
        with pytest.raises(UsageError, match="small letters"):
            store.name_for(workspace, other, name)


def test_every_result_is_read_once_for_a_new_name(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 5):
        name = "here-2-cores" + f"-{number}" * (number > 1)
        written(
            workspace, machine=MACHINE.model_copy(update={"name": name, "memory": number << 40})
        )
    reads, read = list[Path](), store.read

    def count(path: Path) -> Result:
        reads.append(path)
        return read(path)

    monkeypatch.setattr(store, "read", count)
    assert store.name_for(workspace, MACHINE, None) == "here-2-cores-5"
    assert len(reads) == 4


def test_a_result_in_another_machines_folder_is_named(workspace: Workspace) -> None:
    path = written(workspace)
    other = written(workspace, machine=MACHINE.model_copy(update={"cores": 64}), seconds=1.0)
    found, _ = store.read_all(workspace)
    ((place, message),) = store.misplaced(found).items()
    assert place == max(path, other)
    assert "another machine" in message and "\n  fix:      move the file out" in message


def test_the_installed_command_reads_its_own_results_and_the_published(
    workspace: Workspace, tmp_path: Path
) -> None:
    installed = Workspace(workspace.root, workspace.cache, tmp_path / "home")
    published, own = written(workspace), written(installed, seconds=61.0)
    assert own.is_relative_to(tmp_path / "home/results")
    assert {one.path for one in store.read_all(installed)[0]} == {published, own}
    assert [one.path for one in store.read_all(workspace)[0]] == [published]


def test_the_folder_of_device_reports_has_no_results(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, tmp_path)
    path = workspace.results / store.DEVICES / "a-gpu.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert store.read_all(workspace) == ([], [])
    with pytest.raises(UsageError, match="has the reports of devices"):
        store.name_for(workspace, MACHINE, store.DEVICES)


DIGEST = "sha256:" + "d" * 64


def in_image(subject: Subject) -> Subject:
    return subject.model_copy(update={"image": DIGEST})


def of_image(subject: Subject, *values: float, **more: Any) -> Result:
    return result(runs(subject, values), in_image(subject), **more)


def test_images_timed_one_after_another_have_ratios_and_a_remark() -> None:
    later = "2026-11-21T06:30:00Z"
    fast = of_image(FAST, *[6.0] * 7, began=later)
    (one,) = merge.together([fast, of_image(BASE, *[2.0] * 7)])
    assert one.began == "2026-11-21T05:30:00Z" and one.seconds == 120.0
    assert [subject.id for subject in one.subjects] == [BASE.id, FAST.id]
    ratios = [row.ratio.value for row in rows(one.runs, one.subjects) if row.ratio]
    assert ratios == [3.0]
    assert one.remarks == (merge.ONE_AFTER_ANOTHER,)


def test_other_results_stay_as_they_are() -> None:
    outside = result(runs(BASE, [1.0]), BASE)
    one = of_image(FAST, 1.0)
    again = of_image(FAST, 2.0)
    elsewhere = of_image(BASE, 1.0, machine=MACHINE.model_copy(update={"cpu": "Elsewhere"}))
    other = of_image(OTHER.model_copy(update={"framework": "theano-0.8.2"}), 1.0)
    slow = of_image(
        OTHER, 1.0, settings=outside.settings.model_copy(update={"threads": (1,), "rounds": 5})
    )
    every = [outside, one, again, elsewhere, other, slow]
    assert [found.subjects for found in merge.together(every)] == [r.subjects for r in every]


def test_rounds_taken_in_turn_are_one_result() -> None:
    peak, higher = (Peak(dtype="float64", threads=2, gflops=value) for value in (10.0, 11.0))
    alone = Peak(dtype="float64", threads=1, gflops=6.0)
    machine = MACHINE.model_copy(update={"peak": (peak,)})
    better = MACHINE.model_copy(update={"peak": (higher, alone)})
    turns = [
        result([run], in_image(subject), machine=described)
        for subject, described in ((BASE, machine), (FAST, better))
        for run in runs(subject, [1.0, 2.0, 3.0])
    ]
    one = merge.merged(turns)
    assert one.settings.rounds == 3 and len(one.runs) == 6 and len(one.subjects) == 2
    assert [(p.threads, p.gflops) for p in one.machine.peak] == [(1, 6.0), (2, 11.0)]
    assert one.remarks == ()


def test_noise_is_a_remark() -> None:
    busy = [
        run.model_copy(update={"noise": run.noise.model_copy(update={"others": 1.5})})
        for run in runs(BASE, [1.0])
    ]
    assert "on up to 1.5 cores" in merge.together([result(busy, in_image(BASE))])[0].remarks[0]


def test_scans_are_opened_and_the_rows_sum_up_to_the_calls() -> None:
    inner, outer = tables("Gemm", 2.0, 100, "C"), tables("Dot22", 1.0, 10, "Py")
    found = profiles.of_case(case(profile(inner, outer)))
    assert found
    assert [(cost.name, cost.type, cost.seconds, cost.calls) for cost in found.rows] == [
        ("Gemm", "C", 2.0, 100),
        ("Dot22", "Py", 1.0, 10),
        ("(scan's own overhead)", "", 0.5, 0),
        ("(calling the function)", "", 0.25, 0),
    ]
    assert found.calls == 10
    assert sum(cost.seconds for cost in found.rows) == pytest.approx(found.seconds)
    assert (found.rest.classes, found.rest.seconds, found.rest.calls) == (0, 0.0, 0)
    split = found.compile
    assert (split.total, split.optimiser, split.linker, split.import_) == (4.0, 3.0, 1.0, 0.2)
    assert split.modules == 2


def test_what_has_no_row_of_its_own_is_summed() -> None:
    inner, outer = tables("Gemm", 2.0, 100, "C"), tables("Dot22", 1.0, 10, "Py")
    outer["classes"] += [row("class", f"x.Op{n}", 0.001, 30, "C", 3) for n in range(20)]
    found = profiles.of_case(case(profile(inner, outer)))
    assert found and len(found.rows) == profiles.LARGEST == 12
    assert (found.rest.classes, found.rest.calls) == (12, 360)
    assert found.rest.seconds == pytest.approx(0.012)


def test_without_a_profile_there_is_none() -> None:
    assert profiles.of_case(case(None)) is None


def test_a_result_keeps_it() -> None:
    inner, outer = tables("Gemm", 2.0, 100, "C"), tables("Dot22", 1.0, 10, "Py")
    found = profiles.of_case(case(profile(inner, outer)))
    stored = result(runs(BASE, [1.0], profile=found), BASE).model_dump_json(by_alias=True)
    (run,) = Result.model_validate_json(stored).runs
    assert run.series[0].profile == found
    assert Result.model_validate_json(stored).model_dump_json(by_alias=True) == stored
