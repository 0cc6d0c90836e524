"""Results: what they may contain, and their files."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from stacks.bench import store
from stacks.bench.result import Result, Subject
from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from unit.helpers.benching import BASE, MACHINE, result, run, written


def test_a_result_of_an_earlier_version_is_read() -> None:
    one = result([run(BASE, 1, 2.0)], BASE)
    content = json.loads(one.model_dump_json(by_alias=True))
    del content["settings"]["busy"], content["runs"][0]["busy"]
    content["subjects"][0]["image"] = None
    assert Result.model_validate_json(json.dumps(content)) == one
    assert one.settings.busy == one.runs[0].busy == 0


def test_a_variant_has_the_name_of_a_flavour_or_a_stack() -> None:
    content = BASE.model_dump()
    for name in ("pip-default", "mkl@conda-forge", "my-model", "2_x+y.z"):
        assert Subject.model_validate({**content, "flavour": name}).flavour == name
    for name in ("", "mkl\x01", "mkl ", "a/b", "..", "mkl@", "<b>", "Mkl"):
        for key in ("framework", "flavour"):
            with pytest.raises(ValueError, match=key):
                Subject.model_validate({**content, key: name})


def test_every_number_is_bounded_and_every_text_has_a_pattern() -> None:
    schema = json.loads((REPOSITORY / "results/result.schema.json").read_text())

    def leaves(node: Any) -> Iterator[dict[str, Any]]:
        if isinstance(node, dict) and node.get("type") in ("number", "integer", "string"):
            yield node
        elif isinstance(node, (dict, list)):
            for each in node.values() if isinstance(node, dict) else node:
                yield from leaves(each)

    found = list(leaves(schema))
    assert len(found) > 40
    for leaf in found:
        assert {"maximum", "pattern", "enum", "const"} & set(leaf), leaf


def test_a_written_result_is_read_again(own_workspace: Workspace) -> None:
    path = written(own_workspace)
    assert path.parent.name == "here-2-cores"
    assert store.write(own_workspace, store.read(path)) == path
    # The same second: a clock may have been set back, and no result is ever replaced.
    second = written(own_workspace, seconds=61.0)
    assert path != second and path.is_file() and second.is_file()
    content = json.loads(path.read_bytes())
    jsonschema.validate(
        content, json.loads((REPOSITORY / "results/result.schema.json").read_text())
    )


# By the name of a file: what replaces what in a good one, and the error.
BROKEN = {
    "new": ('"schema":1', '"schema":2', "another schema\n  found:    2\n  fix:      this version"),
    "odd": ('"unit":"GFLOP/s"', '"unit":"furlong"', "runs.0.series.0.unit"),
    "more": ('"remarks"', '"host":"mine","remarks"', "host"),
    "nan": ("[3.0]", "[NaN]", "samples.0\n  found:    Input should be a finite number"),
    "none": ("[3.0]", "[]", "samples\n  found:    Tuple should have at least 1 item"),
    "huge": ("[3.0]", "[1e300]", "samples.0\n  found:    Input should be less than"),
    "less": ("[3.0]", "[-3.0]", "samples.0\n  found:    Input should be greater than"),
    "bell": ('"Here"', '"He\\u0007re"', "machine.cpu\n  found:    not one line without control"),
    "who": ('"flavour":"fast"', '"flavour":"slow"', "fast, which is not among its subjects"),
}


def test_a_broken_result_is_named_and_the_others_are_read(own_workspace: Workspace) -> None:
    good = written(own_workspace)
    text, folder = good.read_text(), good.parent
    for name, (old, new, _) in BROKEN.items():
        assert old in text
        (folder / f"{name}.json").write_text(text.replace(old, new))
    (folder / "cut.json").write_text(text[: len(text) // 2])
    (folder / "latin.json").write_bytes(text.encode().replace(b'"Here"', b'"H\xe9re"'))
    (folder / "large.json").write_bytes(text.encode() + b" " * (50 << 20))
    (folder / "link.json").symlink_to(good)
    (folder / "folder.json").mkdir()
    (folder.parent / "linked").symlink_to(folder)
    # The reports of devices are no results.
    (folder.parent / store.DEVICES).mkdir()
    (folder.parent / store.DEVICES / "a-gpu.json").write_text("{}")
    found, bad = store.read_all(own_workspace)
    assert [one.path for one in found] == [good]
    expected = {f"{name}.json": message for name, (_, _, message) in BROKEN.items()} | {
        "cut.json": "cut off or broken",
        "latin.json": "not UTF-8\n  found:    'utf-8' codec can't decode byte 0xe9",
        "large.json": "too large for a result\n  expected: at most 32 MiB",
        "link.json": "link.json is a symbolic link",
        "folder.json": "not a file",
    }
    output = {
        error.what.partition(": ")[0].rpartition("/")[2]: str(error)
        for error in bad
        if "/linked/" not in error.what
    }
    assert output.keys() == expected.keys()
    assert [name for name in expected if expected[name] not in output[name]] == []
    assert "linked is a symbolic link" in str(bad[-1])
    assert all("\n  fix:      " in str(error) for error in bad)


def test_two_machines_of_one_name(own_workspace: Workspace) -> None:
    written(own_workspace)
    other = MACHINE.model_copy(update={"memory": 64 << 30})
    assert store.named(own_workspace, MACHINE) == MACHINE
    assert store.named(own_workspace, other).name == "here-2-cores-2"
    assert store.named(own_workspace, other, "mine").name == "mine"
    for name, message in (
        ("here-2-cores", "has results of another machine"),
        ("devices", "not the name of a folder of results"),
        ("../mine", "small letters"),
        ("My box", "small letters"),
        (".x", "small letters"),
    ):
        with pytest.raises(UsageError, match=message):
            store.named(own_workspace, other, name)


def test_a_result_in_another_machines_folder_is_named(own_workspace: Workspace) -> None:
    path = written(own_workspace)
    other = written(own_workspace, machine=MACHINE.model_copy(update={"cores": 64}), seconds=1.0)
    [found], [error] = store.read_all(own_workspace)
    assert found.path == min(path, other)
    assert error.what.startswith(f"{max(path, other)}: another machine") and error.fix
    assert error.fix.startswith("move the file out")


def test_the_installed_command_reads_its_own_results_and_the_published(
    own_workspace: Workspace, tmp_path: Path
) -> None:
    installed = Workspace(own_workspace.root, own_workspace.cache, tmp_path / "home")
    published, own = written(own_workspace), written(installed, seconds=61.0)
    assert own.is_relative_to(tmp_path / "home/results")
    assert {one.path for one in store.read_all(installed)[0]} == {published, own}
    assert [one.path for one in store.read_all(own_workspace)[0]] == [published]
