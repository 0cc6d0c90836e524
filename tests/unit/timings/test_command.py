"""What is published: the same bytes for the same results, nothing made up, nothing let through."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import store
from stacks.bench.result import Result, Subject
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.timings import command, devices
from stacks.timings.current import current_locks, locked_packages
from unit.helpers.benching import BASE, FAST, missing, result, runs
from unit.helpers.publishing import (
    FLAVOURS,
    GEMM,
    WITH_PEAK,
    Reader,
    at,
    campaign,
    keep,
    site,
    timings,
)

EVIL = "<script>alert(1)</script>\"'>|`x` # [a](b) &lt; {{ 7*7 }} </style>"


def test_every_figure_has_its_machine_versions_and_samples(tmp_path: Path) -> None:
    keep(tmp_path, remarks=("other programs were busy",))
    command.publish(at(tmp_path))
    assert (
        "| theano-1.0.5/fast (older lock) | NumPy's own |  "
        "| 5 GFLOP/s, 50%<br>**2.50 (2.50 - 2.50)** |"
    ) in timings(tmp_path)
    observed = " ".join(Reader(site(tmp_path)).text.split())
    assert (
        "fast theano-1.0.5 gemm Gemm float64 2000 idle 2 5 GFLOP/s 2.50 (2.50 - 2.50) base"
    ) in observed
    assert "numpy 1.22.4; lock " + "a" * 64 in observed
    assert "Gemm float64 2000, 2 threads: fast is the fastest" in observed
    for text in (timings(tmp_path), observed):
        assert "Here (Someone 1 2 3, microcode 0x1), 2 cores, 8 GiB; kernel 6.1, glibc 2.36" in text
        assert "float64 on 2 threads 10.0 GFLOP/s" in text
        assert "c" * 40 in text
        assert "other programs were busy" in text


def test_a_timeout_has_a_row_without_a_figure(tmp_path: Path) -> None:
    keep(tmp_path, missing=(missing(FAST),))
    command.publish(at(tmp_path))
    observed = " ".join(Reader(site(tmp_path)).text.split())
    assert (
        "fast theano-1.0.5 ntm ntm, numba idle 2 no answer had not compiled within 300 s, 287 s of "
        "them on a processor: it has no figure here-2-cores"
    ) in observed
    assert "ntm, numba, 2 threads: theano-1.0.5/fast had not compiled within 300 s" in observed


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for root in (first, second):
        keep(root)
        keep(root, began="2026-11-22T05:30:00Z", settings=_settings(quick=False))
        command.publish(at(root))
    assert site(first) == site(second) and timings(first) == timings(second)


def _settings(**more: Any) -> Any:
    return result(runs(BASE, [1.0]), BASE).settings.model_copy(update=more)


def test_the_page_loads_nothing_from_the_network(tmp_path: Path) -> None:
    keep(tmp_path)
    command.publish(at(tmp_path))
    found = Reader(site(tmp_path))
    assert {"style", "script", "table"} <= set(found.tags)
    links = {value for name, value in found.attributes if name in ("href", "src", "xlink:href")}
    assert links == {"data:,", "#session-1", "docs/index.html", "docs/guides/bench.html"}
    assert "://" not in site(tmp_path)
    # Without scripts there is nothing to filter with: a plain table.
    assert ("hidden", "") in found.attributes
    assert "url(" not in site(tmp_path) and "@import" not in site(tmp_path)


def test_text_of_results_is_escaped(tmp_path: Path) -> None:
    evil = FAST.model_copy(
        update={"packages": tuple(p.model_copy(update={"version": EVIL}) for p in BASE.packages)}
    )
    found = [*runs(BASE, [2.0] * 7, name=EVIL), *runs(evil, [5.0] * 7, name=EVIL)]
    found += [*runs(BASE, [2.0] * 7, name=GEMM), *runs(evil, [5.0] * 7, name=GEMM)]
    machine = WITH_PEAK.model_copy(update={"cpu": EVIL, "kernel": EVIL})
    one = result(found, BASE, evil, machine=machine, remarks=(EVIL,))
    store.write(at(tmp_path), one)
    command.publish(at(tmp_path))
    observed = Reader(site(tmp_path))
    assert observed.tags.count("script") == 1 and observed.tags.count("style") == 2
    assert EVIL in observed.text
    written = timings(tmp_path)
    assert "<script>" not in written and "`x`" not in written.replace("\\`", "")
    (line,) = [line for line in written.splitlines() if "5 GFLOP/s" in line]
    assert line.replace("\\|", "").count("|") == 5


def test_the_error_without_results_has_a_fix(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no results to publish\n  fix: .*\./invoke bench"):
        command.publish(at(tmp_path))
    assert not (tmp_path / "site").exists()
    command.check(at(tmp_path))


def test_bad_results_are_named_and_left_out_and_the_rest_is_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = keep(tmp_path)
    text, folder = good.read_text(), good.parent
    bad = {
        "cut.json": (text[:99], "its JSON is cut off"),
        "schema.json": (text.replace('"schema":1', '"schema":7'), "another schema"),
        "nan.json": (text.replace("[5.0]", "[NaN]"), "should be a finite number"),
        "negative.json": (text.replace("[5.0]", "[-5.0]"), "should be greater than"),
        "large.json": (text + " " * (50 << 20), "too large for a result"),
        "memory.json": (text.replace(str(8 << 30), "1" + 400 * "0"), "less than or equal to"),
        "flavour.json": (text.replace('fast"', 'fast\\u0001"'), "subjects.1.flavour"),
        "cpu.json": (text.replace('"Here"', '"He\\u0001re"'), "not one line"),
    }
    for name, (content, _) in bad.items():
        (folder / name).write_text(content)
    (folder / "latin.json").write_bytes(text.encode().replace(b'"Here"', b'"H\xe9re"'))
    (folder / "link.json").symlink_to(good)
    other = WITH_PEAK.model_copy(update={"cpu": "Elsewhere"})
    misplaced = keep(tmp_path, machine=other, began="2026-11-22T05:30:00Z")
    for act in (command.publish, command.check):
        with pytest.raises(UsageError, match="published without 11 of 12 results") as raised:
            act(at(tmp_path))
        assert raised.value.exit_code == 2
        messages = {
            Path(message.partition(": ")[0]).name: message
            for message in capsys.readouterr().err.split("left out: ")[1:]
        }
        expected = {name: reason for name, (_, reason) in bad.items()} | {
            "latin.json": "not UTF-8",
            "link.json": "link.json is a symbolic link",
            misplaced.name: "another machine than the first of its folder: Elsewhere",
        }
        assert set(messages) == set(expected)
        for name, reason in expected.items():
            assert reason in messages[name]
            assert messages[name].count("\n  fix:      ") == 1
    assert "2.50 (2.50 - 2.50)" in timings(tmp_path)
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
    assert "<summary>here-2-cores-2: 2 environments</summary>" in timings(here)
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
        command.add(at(tmp_path), saved(tmp_path / "new", one=of_image(FAST, 5.0)))
    assert not (tmp_path / "results").exists()


def of_image(subject: Subject, speed: float, **more: Any) -> Result:
    found = runs(subject, [speed] * 7, name=GEMM)
    return result(found, subject.model_copy(update=more), machine=WITH_PEAK)


def saved(folder: Path, **results: Result) -> list[Path]:
    folder.mkdir()
    for name, one in results.items():
        (folder / f"{name}.json").write_text(one.model_dump_json(by_alias=True))
    return sorted(folder.iterdir())


DIGEST = "sha256:0123456789ab" + "c" * 52


def test_results_of_images_are_published_with_their_digests_and_ratios(tmp_path: Path) -> None:
    base, fast = of_image(BASE, 2.0, image=DIGEST), of_image(FAST, 5.0, image=DIGEST)
    for _ in range(2):
        command.add(at(tmp_path), saved(tmp_path / "new", base=base, fast=fast))
        shutil.rmtree(tmp_path / "new")
    assert len(list((tmp_path / "results").rglob("*.json"))) == 1
    command.publish(at(tmp_path))
    row = "| theano-1.0.5/fast (image 0123456789ab) (older lock) | NumPy's own |  | 5 GFLOP/s, 50%"
    assert f"{row}<br>**2.50 (2.50 - 2.50)** |" in timings(tmp_path)
    assert "timed one after another, not in turn" in timings(tmp_path)
    observed = " ".join(Reader(site(tmp_path)).text.split())
    assert "(image 0123456789ab)" in observed and f"image {DIGEST}" in observed


def test_a_result_without_its_images_digest_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command.add(at(tmp_path), saved(tmp_path / "new", one=of_image(FAST, 5.0, image="unknown")))
    assert "one.json: it does not name its image's digest" in capsys.readouterr().err


def test_of_several_files_with_a_bad_one_none_is_taken(tmp_path: Path) -> None:
    paths = saved(tmp_path / "new", good=of_image(FAST, 5.0), worse=of_image(BASE, 2.0))
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
    (name, lock), packages = next(iter(locked_packages(own_workspace).items()))
    framework, _, flavour = name.partition("/")
    mine = FAST.model_copy(
        update={"framework": framework, "flavour": flavour, "lock": lock, "image": DIGEST}
    )
    folder = own_workspace.root / "new"
    (path,) = saved(folder, one=of_image(mine, 5.0))
    with pytest.raises(UsageError, match=rf"its packages of {name} are not those of the lock"):
        command.add(own_workspace, [path])
    path.write_text(of_image(mine, 5.0, packages=tuple(packages)).model_dump_json(by_alias=True))
    command.add(own_workspace, [path])
    assert len(list(own_workspace.results.rglob("*.json"))) == 1


def test_documents_that_differ_from_the_results_are_stale(tmp_path: Path) -> None:
    keep(tmp_path)
    with pytest.raises(StaleError, match=r"timings\.md, .*index\.html: not what results/ gives"):
        command.check(at(tmp_path))
    command.publish(at(tmp_path))
    command.check(at(tmp_path))
    later = keep(tmp_path, began="2026-11-22T05:30:00Z")
    with pytest.raises(StaleError, match=r"fix: .*\./invoke publish"):
        command.check(at(tmp_path))
    later.unlink()
    (tmp_path / "site/index.html").write_text(site(tmp_path) + " ")
    with pytest.raises(StaleError, match=r"index\.html: not what"):
        command.check(at(tmp_path))
    for path in (tmp_path / "results").rglob("*.json"):
        path.unlink()
    with pytest.raises(StaleError, match="remove these files"):
        command.check(at(tmp_path))


def test_forty_environments_stay_readable(tmp_path: Path) -> None:
    campaign(tmp_path)
    command.publish(at(tmp_path))
    text, page = timings(tmp_path), site(tmp_path)
    assert len(text.splitlines()) <= 250
    assert len(page.encode()) <= 1_500_000
    before, _, after = text.partition("## The article's three steps")
    rows = [line for line in before.splitlines() if line.startswith("| theano-1.0.5/")]
    assert len([line for line in before.splitlines() if " (older lock) | " in line]) == 40
    assert [row.split("/")[1].split()[0] for row in rows] == sorted(FLAVOURS, key=_baseline_first)
    heads = next(line for line in before.splitlines() if line.startswith("| environment"))
    assert heads == (
        "| environment | BLAS | download | check_blas 2000, float64 | check_blas 5000, float64 "
        "| check_blas 2000, float32 | check_blas 5000, float32 | exp | tanh "
        "| LSTM | LSTM, first step | LSTM beside 2 busy loops |"
    )
    # The rest is folded.
    assert "<details><summary>here-2-cores: 40 environments</summary>\n\n" in after
    assert "<details><summary>12 sessions</summary>\n\n- " in after
    assert "| ntm | MLP |" in after and "| ntm beside 2 busy loops | MLP beside" in after
    assert page.count('<tr><th scope="row">') > 2000


def _baseline_first(flavour: str) -> tuple[bool, str]:
    return flavour != "pip-default", flavour


def test_the_committed_ones_are_what_the_results_give(workspace: Workspace) -> None:
    stored, errors = store.read_all(workspace)
    assert not errors
    current, (reports, _) = current_locks(workspace), devices.read_all(workspace)
    for path, text in command.rendered(stored, workspace.root, current, reports).items():
        assert path.read_text() == text
