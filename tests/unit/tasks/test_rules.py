"""Command lines that are refused, one table: mistyped, and options that do not go together."""

from __future__ import annotations

import pytest

from unit.tasks.conftest import CommandLine


@pytest.mark.parametrize(
    ("line", "message", "fix"),
    [
        ("bild", "there is no task 'bild'", "did you mean `./invoke build`?"),
        ("bild --help", "there is no task 'bild'", "did you mean `./invoke build`?"),
        ("qqqq", "there is no task 'qqqq'", "`./invoke` shows the tasks"),
        ("help", "there is no task 'help'", "`./invoke` shows the tasks"),
        ("--lst", "there is no option --lst before a task", "did you mean --list?"),
        ("build --varaint x", "build has no option --varaint", "did you mean --variant?"),
        ("build --variant v --josn=f", "build has no option --josn", "did you mean --json?"),
        ("build --variant v --9", "build has no option --9",
         "`./invoke build --help` shows its options"),
        ("build --variant", "--variant of build needs a value", "`./invoke build --help` shows"),
        ("init", "init needs FOLDER", "`./invoke init --help` shows its options"),
        ("init x --extends mkl@conda-forge",
         "--extends mkl@conda-forge: a stack.yaml has packages of this project's channel",
         "leave out the @ and what follows it"),
        ("export --as pixi", "export needs --variant NAME", "`./invoke export --help` shows its"),
        ("run --variant v python x", "run has no use for the word 'python'",
         "a program comes after --: ./invoke run --variant v -- python x"),
        ("run python x", "run has no use for the word 'python'",
         "a program comes after --: ./invoke run -- python x"),
        ("run train.py", "nothing to run\n  expected: a program and its words after --",
         "./invoke run -- python train.py"),
        ("build openblass", "unknown variant", "did you mean 'openblas'?"),
        ("build openblas mkl", "build has no use for the word 'mkl'", "`./invoke build --help`"),
        ("--variant mkl run", "there is no option --variant before a task",
         "the options of a task follow its name: ./invoke run --variant ..."),
        ("verify --full=3", "the words after verify cannot be read", "`./invoke verify --help`"),
        ("bench --calls x", "--calls of bench needs a whole number\n  found:    x",
         "`./invoke bench --help` shows its options"),
        ("bench --calls=x", "--calls of bench needs a whole number\n  found:    x",
         "`./invoke bench --help` shows its options"),
        ("pin --alive --check", "--alive pins nothing", "leave out --check"),
        ("pin --alive --expired sid", "--alive pins nothing", "leave out --expired"),
        ("pin --json a.json", "--json needs --alive", "add --alive, or leave out --json"),
        ("lock --check --upgrade", "--check writes nothing", "leave out --upgrade"),
        ("lock mkl@conda-forge", "mkl@conda-forge has the packages of another channel",
         "./invoke lock --variant mkl --channel <its name or address>"),
        ("lock mkl@conda-forge --framework pytensor-3.3.7", "mkl@conda-forge has the packages",
         "./invoke lock --variant mkl --framework pytensor-3.3.7 --channel <its name or address>"),
        ("build mkl --to ocy", "unknown value of --to", "did you mean 'oci'?"),
        ("build mkl --from source", "unknown value of --from", "did you mean 'sources'?"),
        ("build --channel x", "--channel needs --variant or --cluster", "add --variant or"),
        ("build mkl --file f", "--file needs --to oci", "add --to oci"),
        ("build --cluster local --to oci --json j", "--cluster builds", "leave out --to and"),
        ("build mkl --repair --to docker", "--repair is for one environment", "leave out --to"),
        ("build mkl --clean --repair", "--clean makes one environment again", "leave out --repair"),
        ("build mkl --clean --to docker", "--clean makes one", "leave out --to"),
        ("build mkl --clean --cluster local", "--clean makes one", "leave out --cluster"),
        ("build mkl --from sources --channel x", "--from builds", "leave out --channel"),
        ("build mkl --to oci --full --json j", "--to oci writes", "leave out --full and --json"),
        ("build mkl --channel https://x.test/c --to oci", "an image's name cannot", "leave out"),
        ("verify mkl --python p", "--python has the framework", "leave out --variant"),
        ("verify --python p --framework f", "--python has the framework", "leave out --framework"),
        ("recommend --variant s.yaml", "--variant needs a program after --", "add a program"),
        ("clean --framework theano-0.8.2", "--framework needs --variant", "add --variant"),
        ("bench --calls 5 --quick -- x", "a program after -- takes no option of workloads",
         "leave out --quick and --calls"),
        ("bench --all -- x", "a program after -- is timed", "leave out --all"),
        ("bench --json j", "--json needs a program after --", "add a program after --"),
        ("bench --all --variants mkl", "--all times every variant", "leave out --variants"),
        ("bench --cluster local --machine m", "--cluster has workers", "leave out --machine"),
        ("publish --check --prune", "--check writes nothing", "leave out --prune"),
        ("profile mkl --case c -- x", "a program after -- takes no option", "leave out --case"),
        ("profile mkl --memory", "--memory needs a program after --", "add a program"),
        ("compare a b --case c -- x", "a program after -- takes no option", "leave out --case"),
        ("compare a b --rounds 5", "--rounds needs a program after --", "add a program"),
        ("run mkl --over f -- x", "--over needs --jobs", "add --jobs"),
        ("run mkl --logs f -- x", "--logs needs --jobs", "add --jobs"),
        ("run mkl --cluster local -- x", "--cluster needs --jobs", "add --jobs"),
        ("kernel mkl --user --prefix p", "--prefix is for another Jupyter", "leave out --user"),
        ("test --seed 2", "--seed needs --faults", "add --faults"),
        ("test --trial 2", "--trial needs --faults", "add --faults"),
        ("test --all --unit", "--all has every test", "leave out --unit"),
        ("docs --check --to d", "--check writes nothing", "leave out --to"),
        ("vendor d", "give exactly one of --variants, --all and --check", ""),
        ("vendor d --check --images", "--check reads the whole folder", "leave out --images"),
    ],
)  # fmt: skip
def test_a_command_line_is_refused_with_a_suggestion(
    line: str, message: str, fix: str, invoke: CommandLine
) -> None:
    ended = invoke(*line.split())
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {message}")
    assert f"  fix:      {fix}" in ended.err if fix else "  found:    " in ended.err
