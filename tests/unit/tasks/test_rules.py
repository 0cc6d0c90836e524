"""Options that do not go together, one table, through the program of the command line."""

from __future__ import annotations

import pytest

from unit.tasks.conftest import CommandLine


@pytest.mark.parametrize(
    ("line", "message", "fix"),
    [
        ("pin --alive --check", "--alive pins nothing", "leave out --check"),
        ("pin --alive --expired sid", "--alive pins nothing", "leave out --expired"),
        ("pin --json a.json", "--json needs --alive", "add --alive, or leave out --json"),
        ("lock --check --upgrade", "--check writes nothing", "leave out --upgrade"),
        ("build mkl --to ocy", "unknown value of --to", "did you mean 'oci'?"),
        ("build mkl --from source", "unknown value of --from", "did you mean 'sources'?"),
        ("build --channel x", "--channel needs --variant or --cluster", "add --variant or"),
        ("build mkl --file f", "--file needs --to oci", "add --to oci"),
        ("build mkl --base b", "--base needs --to", "add --to"),
        ("build --cluster local --to oci --json j", "--cluster builds", "leave out --to and"),
        ("build mkl --repair --to docker", "--repair is for one environment", "leave out --to"),
        ("build mkl --clean --repair", "--clean makes one environment again", "leave out --repair"),
        ("build mkl --clean --to docker", "--clean makes one", "leave out --to"),
        ("build mkl --clean --cluster local", "--clean makes one", "leave out --cluster"),
        ("build mkl --from sources --channel x", "--from builds", "leave out --channel"),
        ("build mkl --to oci --full --json j", "--to oci writes", "leave out --full and --json"),
        ("build mkl --channel https://x.test/c --to oci", "an image's name cannot", "leave out"),
        ("verify", "give exactly one of --variant and --python", ""),
        ("verify mkl --python p", "give exactly one of --variant and --python", ""),
        ("verify --python p --framework f", "--python has the framework", "leave out --framework"),
        ("recommend --variant s.yaml", "--variant needs a program after --", "add a program"),
        ("recommend --busy 1 -- python x", "--busy times workloads", "leave out a program"),
        ("clean --framework theano-0.8.2", "--framework needs --variant", "add --variant"),
        ("bench --calls 5 --quick -- x", "a program after -- takes no option of workloads",
         "leave out --quick and --calls"),
        ("bench --images i -- x", "a program after -- is timed", "leave out --images"),
        ("bench --json j", "--json needs a program after --", "add a program after --"),
        ("bench --images i --all", "--images names what is timed", "leave out --all"),
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
        ("kernel", "give exactly one of --variant, --list and --remove", ""),
        ("kernel mkl --list", "give exactly one of --variant, --list and --remove", ""),
        ("kernel mkl --user --prefix p", "--prefix is for another Jupyter", "leave out --user"),
        ("test --seed 2", "--seed needs --faults", "add --faults"),
        ("test --trial 2", "--trial needs --faults", "add --faults"),
        ("test --all --unit", "--all has every test", "leave out --unit"),
        ("docs --port 1", "--port needs --serve", "add --serve"),
        ("docs --check --to d", "--check writes nothing", "leave out --to"),
        ("vendor d", "give exactly one of --variants, --all and --check", ""),
        ("vendor d --check --images", "--check reads the whole folder", "leave out --images"),
        ("configure --debian-mirror m --no-debian-mirror", "--debian-mirror saves", "leave out"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(
    line: str, message: str, fix: str, invoke: CommandLine
) -> None:
    ended = invoke(*line.split())
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"error: {message}")
    assert f"  fix:      {fix}" in ended.err if fix else "  found:    " in ended.err
