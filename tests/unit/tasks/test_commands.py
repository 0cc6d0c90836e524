"""What a command line asks of the rooms below, and what it prints after their work."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stacks.bench import candidates, user_program
from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.distribution import vendor
from stacks.environments import folders
from stacks.environments.care import clean, verify
from stacks.environments.folders import READY
from stacks.environments.make import build
from stacks.image import engine
from stacks.tasks.options import file_of, names_of, path_of, variant_of
from stacks.variants.load import all_variants, load_variant
from unit.helpers.environments import add, mark_built
from unit.tasks.conftest import CommandLine

# The solver, the stages of packages, conda's models, the network, tables with colours.
HEAVY = {
    *("conda_lock", "elftools", "requests", "rattler", "rattler_build", "rich", "urllib3"),
    *("stacks.channel.candidates", "stacks.locks.solution"),
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
    ("door", "line", "expected"),
    [
        (clean, "--variant openblas", ["theano-1.0.5/openblas"]),
        (clean, "openblas", ["theano-1.0.5/openblas"]),
        (clean, "theano-0.8.2/openblas", ["theano-0.8.2/openblas"]),
        (clean, "--variant openblas --framework aesara", ["aesara-2.8.7/openblas"]),
        (clean, "", None),
        (vendor, "F --variants mkl", ["theano-1.0.5/mkl"]),
        (vendor, "F --variants mkl --framework theano-0.8.2", ["theano-0.8.2/mkl"]),
        (vendor, "F --variants theano-1.0.5/mkl,mkl,pytensor-3.3.7/blis",
         ["pytensor-3.3.7/blis", "theano-1.0.5/mkl"]),
        (vendor, "F --all", ""),
        (vendor, "F --all --framework aesara-2.8.7", "aesara-2.8.7/"),
    ],
)  # fmt: skip
def test_the_variants_of_a_command_line(
    door: ModuleType,
    line: str,
    expected: list[str] | str | None,
    invoke: CommandLine,
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A text stands for all variants whose names begin with it; None is all of build/."""
    given: list[Any] = []
    name = door.__name__.rpartition(".")[2]
    monkeypatch.setattr(door, name, lambda _, variants, *rest, **more: given.append(variants))
    invoke(name, *line.replace("F", str(tmp_path)).split())
    if isinstance(expected, str):
        every = [variant.id for variant in all_variants(workspace)]
        expected = [name for name in every if name.startswith(expected)]
    assert given == [None] if expected is None else [v.id for v in given[0]] == expected


def test_names_of_variants_are_stripped(
    invoke: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: list[list[str]] = []
    choose = "choose_candidates"
    monkeypatch.setattr(candidates, choose, lambda _, names, *more: named.append(names))
    monkeypatch.setattr(user_program, "bench", lambda *_, **__: None)
    invoke("bench", "--variants", " pip-default, mkl,,mkl", "--", "python", "train.py")
    assert [list(names) for names in named] == [["pip-default", "mkl"]]


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
    monkeypatch.setattr(engine, "build", lambda *given, **options: "theano-openblas:1")
    ended = invoke("build", "openblas", *line.split())
    assert ended.out.splitlines()[-1] == f"next: {command}"


@pytest.mark.parametrize("words", ["--help", "list", "build --variant openblas"])
def test_a_task_with_nothing_to_make_loads_no_code_that_makes_it(
    words: str, own_workspace: Workspace
) -> None:
    mark_built(own_workspace, load_variant(own_workspace, "openblas"))
    program = LOADED.format(repository=str(REPOSITORY), root=str(own_workspace.root))
    output = subprocess.check_output([sys.executable, "-c", program, *words.split()], text=True)
    assert not HEAVY & {*json.loads(output.splitlines()[-1])}


@pytest.mark.parametrize(
    ("built", "framework", "expected"),
    [
        ("theano-1.0.5/mkl", "", "theano-1.0.5/mkl"),
        ("theano-1.0.5/mkl pytensor-3.3.7/blis", "pytensor-3.3.7", "pytensor-3.3.7/blis"),
        ("theano-1.0.5/mkl theano-1.0.5/.part theano-1.0.5/mkl.replaced/1", "", "theano-1.0.5/mkl"),
        ("", "", "no environment is built\n  fix:      ./invoke build, or --variant PATH"),
        ("theano-1.0.5/mkl", "aesara", "no environment is built on aesara-2.8.7\n  fix:      "
         "./invoke build --framework aesara-2.8.7, or"),
        ("theano-1.0.5/mkl theano-1.0.5/blis", "", "which environment?\n  found:    "
         "theano-1.0.5/blis, theano-1.0.5/mkl\n  fix:      name one: --variant theano-1.0.5/blis"),
    ],
)  # fmt: skip
def test_without_a_variant_a_task_uses_the_only_environment_that_is_built(
    built: str,
    framework: str,
    expected: str,
    own_workspace: Workspace,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in built.split():
        add(own_workspace.environments, f"{name}/{READY}", "{}")
    assert variant_of(own_workspace, "given", framework) == "given"
    assert capsys.readouterr().err == ""
    if "\n" in expected:
        with pytest.raises(UsageError, match=re.escape(expected)):
            variant_of(own_workspace, "", framework)
    else:
        assert variant_of(own_workspace, "", framework) == expected
        assert capsys.readouterr().err.startswith(f"using {expected}, the only environment")


def test_the_path_of_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    assert file_of("") is None
    assert path_of("a.json") == tmp_path / "a.json"
    assert path_of("~/a.json") == Path("/home/me/a.json")
    assert names_of("mkl, my model/stack.yaml,,") == {"mkl", "my model/stack.yaml"}
    # A link stays: what it leads to is written.
    (tmp_path / "link.json").symlink_to("real.json")
    assert file_of(str(tmp_path / "link.json")) == tmp_path / "real.json"
    with pytest.raises(UsageError, match=r"is a folder\n  expected: the name of a file"):
        file_of(str(tmp_path))
