"""What a command line asks of the rooms below, and what it prints after their work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stacks.bench import candidates, user_program
from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.distribution import vendor
from stacks.environments import folders
from stacks.environments.care import clean, verify
from stacks.environments.folders import READY, folder_of
from stacks.environments.make import build
from stacks.image import docker
from stacks.locks import lock
from stacks.tasks.options import file_of, names_of, path_of
from stacks.variants.load import all_variants, load_variant
from unit.tasks.conftest import CommandLine

# The solver, the stages of packages, conda's models, the network, tables with colours.
HEAVY = {
    "conda_lock",
    "elftools",
    "requests",
    "rattler",
    "rattler_build",
    "rich",
    "stacks.channel.offers",
    "stacks.locks.solution",
    "urllib3",
}
# Run a command line of a checkout whose keys are known and whose environments pass; print the names
# of the loaded modules.
LOADED = """\
import json, sys
sys.path.insert(0, {repository!r})
from pathlib import Path
from stacks.core import workspace
workspace.default_workspace = lambda: workspace.Workspace(Path({root!r}), Path({root!r}, "cache"))
from stacks.environments.care import verify
verify.verify_variant = lambda *given, **options: None
from stacks.tasks.program import new_program, words_of
new_program().run(words_of(sys.argv[1:]), exit=False)
print(json.dumps(list(sys.modules)))
"""


@pytest.mark.parametrize(
    ("line", "removed"),
    [
        ("--variant openblas", ["theano-1.0.5/openblas"]),
        ("openblas", ["theano-1.0.5/openblas"]),
        ("theano-0.8.2/openblas", ["theano-0.8.2/openblas"]),
        ("--variant openblas --framework aesara", ["aesara-2.8.7/openblas"]),
        ("", None),
    ],
)
def test_clean_of_a_variant_leaves_other_frameworks_alone(
    line: str, removed: list[str] | None, invoke: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[str] | None] = []
    monkeypatch.setattr(
        clean,
        "clean",
        lambda workspace, variants, cache: given.append(variants and [v.id for v in variants]),
    )
    invoke("clean", *line.split())
    assert given == [removed]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("", "./invoke run --variant openblas -- python train.py"),
        ("--to docker", 'docker run --rm -v "$PWD:/work" theano-openblas:1 python train.py'),
    ],
)
def test_a_build_ends_with_the_command_to_run(
    line: str, command: str, invoke: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "built_environment", lambda *given: None)
    monkeypatch.setattr(build, "make_environment", lambda *given, **options: Path("/prefix"))
    monkeypatch.setattr(verify, "verify_variant", lambda *given, **options: print("the table"))
    monkeypatch.setattr(docker, "build", lambda *given, **options: "theano-openblas:1")
    ended = invoke("build", "openblas", *line.split())
    assert ended.out.splitlines()[-1] == f"next: {command}"


@pytest.mark.parametrize("words", [["--help"], ["list"], ["build", "--variant", "openblas"]])
def test_a_task_with_nothing_to_make_loads_no_code_that_makes_it(
    words: list[str], own_workspace: Workspace
) -> None:
    variant = load_variant(own_workspace, "openblas")
    target = folder_of(own_workspace, variant)
    key = folders.key_of(own_workspace, variant, lock.read(own_workspace, variant), target)
    text = folders.mark(key, {})
    (target / READY).parent.mkdir(parents=True)
    (target / READY).write_text(text)
    program = LOADED.format(repository=str(REPOSITORY), root=str(own_workspace.root))
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert not loaded & HEAVY


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("--variants mkl", ["theano-1.0.5/mkl"]),
        ("--variants mkl --framework theano-0.8.2", ["theano-0.8.2/mkl"]),
        (
            "--variants theano-1.0.5/mkl,mkl,pytensor-3.3.7/blis",
            ["pytensor-3.3.7/blis", "theano-1.0.5/mkl"],
        ),
        ("--all", None),
        ("--all --framework aesara-2.8.7", "aesara-2.8.7/"),
    ],
)
def test_the_variants_that_are_vendored(
    line: str,
    expected: list[str] | str | None,
    invoke: CommandLine,
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[Any] = []
    monkeypatch.setattr(vendor, "vendor", lambda _, variants, *rest, **more: found.extend(variants))
    invoke("vendor", str(tmp_path), *line.split())
    if not isinstance(expected, list):
        every = [variant.id for variant in all_variants(workspace)]
        expected = [name for name in every if name.startswith(expected or "")]
    assert [variant.id for variant in found] == expected


def test_names_of_variants_are_stripped(
    invoke: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: list[list[str]] = []

    def choose(workspace: object, names: list[str], framework: str) -> list[str]:
        named.append(list(names))
        return []

    monkeypatch.setattr(candidates, "choose_candidates", choose)
    monkeypatch.setattr(user_program, "bench", lambda *_, **__: None)
    invoke("bench", "--variants", " pip-default, mkl,,mkl", "--", "python", "train.py")
    assert named == [["pip-default", "mkl"]]


def test_the_path_of_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    assert path_of("") is None
    assert path_of("a.json") == tmp_path / "a.json"
    assert path_of("~/a.json") == Path("/home/me/a.json")
    assert names_of("mkl, my model/stack.yaml,,") == {"mkl", "my model/stack.yaml"}


def test_the_file_of_an_option_is_no_folder_and_a_link_to_it_stays(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("real.json")
    assert file_of("") is None
    assert file_of(str(tmp_path / "link.json")) == tmp_path / "real.json"
    with pytest.raises(UsageError, match=r"is a folder\n  expected: the name of a file"):
        file_of(str(tmp_path))
