import configparser
import json
from pathlib import Path

import pytest

from stacks.channel.settings_files import CONSTRAINTS, MODULES
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.make import settings
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.environments import add

LINKED = "-lblas_threads -lopenblas"


@pytest.mark.parametrize("name", ["a:b", "a%b", "a\\b", "a;b", "a\nb", "caf\udce9"])
def test_paths_at_which_no_environment_can_be(name: str) -> None:
    with pytest.raises(UsageError, match="move the checkout"):
        settings.check_place(Path("/x") / name)
    settings.check_place(Path("/a folder, naïve é/#1 $HOME & 'co' \"x\""))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


RC, OTHER = "{home}/.theanorc", "{home}/mine"
BLAS = "[blas]\nldflags = -lx\n"
NEEDS = f"where the variant needs '{LINKED}'"
SETS = f"sets blas.ldflags to '-lx', {NEEDS}"


@pytest.mark.parametrize(
    ("files", "environ", "expected"),
    [
        # Settings that the variant has not, or has the same.
        ({RC: "[gcc]\ncxxflags = -O2\n[global]\noptimizer_verbose = True\n"}, {}, []),
        ({RC: f"[blas]\nldflags = {LINKED}\n"}, {}, []),
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
        ({OTHER: BLAS, RC: "[blas]\nldflags = -ly\n"}, {"THEANORC": "/no/such:~/mine:"},
         [f"{OTHER} {SETS}"]),
        # A checkout beside the user's file is no environment; an environment's own file is.
        ({RC: BLAS, "{home}/theano-stacks/README": ""}, {}, [f"{RC} {SETS}"]),
        ({"{home}/etc/theanorc": BLAS, "{home}/etc/theano-stacks/README": ""},
         {"THEANORC": "{home}/etc/theanorc"}, []),
    ],
)  # fmt: skip
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


def test_what_the_verification_compiles_is_shared_by_flavours_of_equal_packages(
    variant: Variant, tmp_path: Path
) -> None:
    def folder(name: str, **changed: str) -> str:
        prefix = tmp_path / name
        digests = {"numpy": "n", "gxx": "g", "python": "p", "theano": "t", **changed}
        packages = [
            {"name": name, "version": "1", "sha256": digest, "manager": "conda"}
            for name, digest in digests.items()
        ]
        settings.write(variant, prefix, prefix, packages, tmp_path / "cache")
        return str(json.loads((prefix / settings.EXPECTATION).read_text())["verified"])

    first = folder("first", libblas="openblas")
    assert first.startswith(str(tmp_path / "cache/verified/"))
    assert folder("second", libblas="blis") == first
    assert all(
        folder(name, **{name: "x"}) != first for name in ("numpy", "gxx", "python", "theano")
    )


def test_flags_are_compared_by_one_spelling(workspace: Workspace, home: Path) -> None:
    pytensor = load_variant(workspace, "pip-openblas", "pytensor-3.3.7")
    found = settings.undone(pytensor, home, {"PYTENSOR_FLAGS": "blas__ldflags=-lblas"})
    assert found == [f"PYTENSOR_FLAGS sets blas.ldflags to '-lblas', {NEEDS}"]


def test_settings_are_not_written_through_a_packages_file(variant: Variant, tmp_path: Path) -> None:
    prefix, cached = tmp_path / "hostile", tmp_path / "cached"
    cached.write_text("another environment's")
    names = (settings.EXPECTATION, MODULES)
    (prefix / MODULES).parent.mkdir(parents=True)
    (prefix / settings.EXPECTATION).symlink_to(cached)
    (prefix / MODULES).hardlink_to(cached)
    packages = [{"name": "python", "version": "3.9.1", "sha256": "00", "manager": "conda"}]
    settings.write(variant, prefix, prefix, packages, tmp_path)
    assert cached.read_text() == "another environment's"
    assert all((prefix / name).stat().st_nlink == 1 for name in names)
    assert not any((prefix / name).is_symlink() for name in names)


SITE = "lib/python{}/site-packages"


def install(prefix: Path, python: str, name: str, version: str) -> None:
    path = f"{SITE.format(python)}/{name.lower()}-{version}.dist-info/METADATA"
    add(prefix, path, f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def config(prefix: Path) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser()
    parser.read_string((prefix / "pip.conf").read_text())
    return parser


def test_the_constraints_are_the_installed_packages(tmp_path: Path) -> None:
    for name, version in (("pip", "26.0.1"), ("NumPy", "1.22.4")):
        install(tmp_path, "3.9", name, version)
    # Such a line would make pip refuse all others.
    install(tmp_path, "3.9", "unusual", "of today")
    (tmp_path / SITE.format("3.9") / "empty-1.0.dist-info").mkdir()
    # As setuptools' older releases write it.
    old = "Metadata-Version: 1.0\nName: six\nVersion: 1.16.0\n"
    add(tmp_path, f"{SITE.format('3.9')}/six-1.16.0.egg-info", old)
    final = Path("/final place/100 %é")
    settings.write_pip_settings(tmp_path, final, "3.9")
    text = (tmp_path / CONSTRAINTS).read_text()
    assert [line for line in text.splitlines() if not line.startswith("#")] == [
        f"NumPy==1.22.4,{settings.HINT}",
        f"pip==26.0.1,{settings.HINT}",
        f"six==1.16.0,{settings.HINT}",
    ]
    # One word: pip splits the value of this setting.
    assert config(tmp_path)["install"]["constraint"] == (
        "file:///final%20place/100%20%25%C3%A9/etc/theano-stacks/constraints.txt"
    )


@pytest.mark.parametrize(
    ("python", "pip", "feature"),
    [
        ("2.7", "20.3.4", "2020-resolver"),
        ("3.9", "25.2", None),
        ("3.9", "25.3", "build-constraint"),
        ("3.9", "26.0.1", "build-constraint"),
    ],
)
def test_what_pip_needs_to_keep_to_them(
    python: str, pip: str, feature: str | None, tmp_path: Path
) -> None:
    install(tmp_path, python, "pip", pip)
    settings.write_pip_settings(tmp_path, tmp_path, python)
    assert config(tmp_path).get("global", "use-feature", fallback=None) == feature


def test_an_environment_without_pip_gets_nothing_and_a_packages_own_ensurepip_stays(
    tmp_path: Path,
) -> None:
    install(tmp_path, "3.9", "numpy", "1.22.4")
    settings.write_pip_settings(tmp_path, tmp_path, "3.9")
    assert [path.name for path in tmp_path.iterdir()] == ["lib"]
    install(tmp_path, "3.9", "pip", "26.0.1")
    own = add(tmp_path, "lib/python3.9/ensurepip/__init__.py", "own")
    settings.write_pip_settings(tmp_path, tmp_path, "3.9")
    assert own.read_text() == "own"
    assert [path.name for path in own.parent.iterdir()] == ["__init__.py"]


def test_uv_gets_the_constraints_beside_the_users_own(tmp_path: Path) -> None:
    assert settings.for_uv(tmp_path, {}) == {}
    install(tmp_path, "3.9", "pip", "26.0.1")
    settings.write_pip_settings(tmp_path, tmp_path, "3.9")
    own = settings.url(tmp_path)
    assert settings.for_uv(tmp_path, {}) == {"UV_CONSTRAINT": own}
    given = {"UV_CONSTRAINT": f"mine.txt {settings.url(Path('/another'))}"}
    assert settings.for_uv(tmp_path, given) == {"UV_CONSTRAINT": f"mine.txt {own}"}
