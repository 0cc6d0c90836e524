from __future__ import annotations

import json
from pathlib import Path

import pytest

from stacks.channel.settings_files import MODULES
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.make import settings
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.starts import PACKAGES

LINKED = "-lblas_threads -lopenblas"


@pytest.mark.parametrize("name", ["a:b", "a%b", "a\\b", "a;b", "a\nb", "caf\udce9"])
def test_invalid_environment_paths_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="move the checkout"):
        settings.check_place(Path("/x") / name)


def test_valid_environment_paths() -> None:
    settings.check_place(Path("/a folder, naïve é/#1 $HOME & 'co' \"x\""))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


RC, OTHER = "{home}/.theanorc", "{home}/mine"
NEEDS = f"where the variant needs '{LINKED}'"


@pytest.mark.parametrize(
    ("files", "environ", "expected"),
    [
        # Settings that the variant has not, or has the same.
        ({RC: ""}, {}, []),
        ({RC: "[gcc]\ncxxflags = -O2\n"}, {}, []),
        ({RC: f"[blas]\nldflags = {LINKED}\n"}, {}, []),
        ({RC: "[global]\noptimizer_verbose = True\n"}, {}, []),
        ({RC: "not an rc file"}, {}, []),
        ({RC: "\xff\xfe"}, {}, []),
        (
            {RC: "[blas]\nLDFLAGS =\n[global]\ncxx = c++\n"},
            {},
            [
                f"{RC} sets blas.ldflags to '', {NEEDS}",
                f"{RC} sets cxx to 'c++', where the variant needs 'g++'",
            ],
        ),
        (
            {},
            {"THEANO_FLAGS": " device=cuda , blas.ldflags=-la=b,floatX,x=1,base_compiledir=/mine"},
            [
                f"THEANO_FLAGS sets blas.ldflags to '-la=b', {NEEDS}",
                "THEANO_FLAGS sets device to 'cuda', where the variant needs 'cpu'",
            ],
        ),
        # Only the files that the variable names are read.
        (
            {OTHER: "[blas]\nldflags = -lx\n", RC: "[blas]\nldflags = -ly\n"},
            {"THEANORC": "/no/such:~/mine:"},
            [f"{OTHER} sets blas.ldflags to '-lx', {NEEDS}"],
        ),
        # A checkout beside the user's file is no environment; an environment's own file is.
        (
            {RC: "[blas]\nldflags = -lx\n", "{home}/theano-stacks/README": ""},
            {},
            [f"{RC} sets blas.ldflags to '-lx', {NEEDS}"],
        ),
        (
            {
                "{home}/etc/theanorc": "[blas]\nldflags = -lx\n",
                "{home}/etc/theano-stacks/README": "",
            },
            {"THEANORC": "{home}/etc/theanorc"},
            [],
        ),
    ],
)
def test_settings_that_override_the_variants(
    files: dict[str, str],
    environ: dict[str, str],
    expected: list[str],
    variant: Variant,
    home: Path,
) -> None:
    for name, text in files.items():
        path = Path(name.format(home=home))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("latin-1"))
    given = {name: value.format(home=home) for name, value in environ.items()}
    found = settings.undone(variant, Path("/prefix"), given)
    assert sorted(found) == [line.format(home=home) for line in expected]


def test_the_expectation_file_for_verify(variant: Variant, prefix: Path) -> None:
    settings.write(variant, prefix, Path("/final"), list(PACKAGES))
    message = json.loads((prefix / settings.EXPECTATION).read_text())
    assert message["flags"]["base_compiledir"] == "/final/var/compiledir"
    assert message["packages"] == PACKAGES
    assert (message["variant"], message["framework"], message["python"], message["baseline"]) == (
        "openblas",
        "theano-1.0.5",
        "3.9.2",
        False,
    )


def test_flags_are_compared_by_one_spelling(workspace: Workspace, home: Path) -> None:
    pytensor = load_variant(workspace, "pip-openblas", "pytensor-3.3.7")
    found = settings.undone(pytensor, home, {"PYTENSOR_FLAGS": "blas__ldflags=-lblas"})
    assert found == [f"PYTENSOR_FLAGS sets blas.ldflags to '-lblas', {NEEDS}"]


@pytest.mark.parametrize("kind", ["hard link", "link"])
def test_settings_are_not_written_through_a_packages_file(
    kind: str, variant: Variant, tmp_path: Path
) -> None:
    prefix, cached = tmp_path / "hostile", tmp_path / "cached"
    cached.write_text("another environment's")
    names = (settings.EXPECTATION, MODULES)
    for name in names:
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            (prefix / name).symlink_to(cached)
        else:
            (prefix / name).hardlink_to(cached)
    packages = [{"name": "python", "version": "3.9.1", "sha256": "00", "manager": "conda"}]
    settings.write(variant, prefix, prefix, packages, tmp_path / "modules")
    assert cached.read_text() == "another environment's"
    assert all((prefix / name).stat().st_nlink == 1 for name in names)
    assert not any((prefix / name).is_symlink() for name in names)
