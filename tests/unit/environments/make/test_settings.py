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


def undone(variant: Variant, **environ: str) -> list[str]:
    return settings.undone(variant, Path("/prefix"), environ)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[gcc]\ncxxflags = -O2\n",
        "[blas]\nldflags = -lblas_threads -lopenblas\n",
        "[global]\noptimizer_verbose = True\n",
        "not an rc file",
        "\xff\xfe",
    ],
)
def test_additional_settings_override_nothing(
    workspace: Workspace, variant: Variant, home: Path, text: str
) -> None:
    (home / ".theanorc").write_bytes(text.encode("latin-1"))
    assert undone(variant) == []


def test_an_rc_file_that_overrides_the_variants_settings(
    workspace: Workspace, variant: Variant, home: Path
) -> None:
    (home / ".theanorc").write_text("[blas]\nLDFLAGS =\n[global]\ncxx = c++\n")
    assert undone(variant) == [
        f"{home}/.theanorc sets blas.ldflags to '', where the variant needs '{LINKED}'",
        f"{home}/.theanorc sets cxx to 'c++', where the variant needs 'g++'",
    ]


def test_flags_that_override_the_variants_settings(
    workspace: Workspace, variant: Variant, home: Path
) -> None:
    flags = " device=cuda , blas.ldflags=-la=b,floatX,x=1,base_compiledir=/mine"
    message = undone(variant, THEANO_FLAGS=flags)
    assert sorted(message) == [
        f"THEANO_FLAGS sets blas.ldflags to '-la=b', where the variant needs '{LINKED}'",
        "THEANO_FLAGS sets device to 'cuda', where the variant needs 'cpu'",
    ]


def test_rc_files_named_by_the_user(workspace: Workspace, variant: Variant, home: Path) -> None:
    (home / "mine").write_text("[blas]\nldflags = -lx\n")
    (home / ".theanorc").write_text("[blas]\nldflags = -ly\n")
    assert len(message := undone(variant, THEANORC="/no/such:~/mine:")) == 1
    assert message[0].startswith(f"{home}/mine sets blas.ldflags to '-lx'")


def test_a_checkout_beside_the_users_rc_file(
    workspace: Workspace, variant: Variant, home: Path
) -> None:
    (home / "theano-stacks").mkdir()
    (home / ".theanorc").write_text("[blas]\nldflags = -lx\n")
    assert len(undone(variant)) == 1


def test_an_environments_own_rc_file_overrides_nothing(
    workspace: Workspace, variant: Variant, home: Path
) -> None:
    (home / "etc/theano-stacks").mkdir(parents=True)
    (home / "etc/theanorc").write_text("[blas]\nldflags = -lx\n")
    assert undone(variant, THEANORC=f"{home}/etc/theanorc") == []


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
    assert found == [
        f"PYTENSOR_FLAGS sets blas.ldflags to '-lblas', where the variant needs '{LINKED}'"
    ]


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
