"""What a user adds to an environment that is made again, and the import of what a user asks for."""

import platform
import sys
from pathlib import Path, PurePosixPath

import pytest

from stacks.channel.candidates import read_channel
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.make import additions, packages
from stacks.variants.load import load_variant
from stacks.variants.variant import ACCELERATOR, SCAN_FIX, Variant
from unit.helpers.environments import MANIFEST, SITE_PACKAGES, add, environment

COMMAND = "./invoke run --variant openblas -- pip install"
RECORDED = ("METADATA", "INSTALLER", "RECORD")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return environment(tmp_path / "old")


@pytest.fixture
def new(tmp_path: Path) -> Path:
    place = environment(tmp_path / "new")
    runs_python(place)
    add(place, f"{SITE_PACKAGES}/numpy-1.22.4.dist-info/METADATA", metadata("numpy", "1.22.4"))
    return place


def runs_python(prefix: Path) -> None:
    """Let an environment's Python be this one, with the environment's packages."""
    run = f'#!/bin/sh\nPYTHONPATH={prefix / SITE_PACKAGES} exec {sys.executable} "$@"\n'
    add(prefix, "bin/python", run, 0o755)


def metadata(name: str, version: str, *requires: str) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    return "\n".join([*lines, *(f"Requires-Dist: {text}" for text in requires)]) + "\n"


def install(
    prefix: Path, name: str, *requires: str, site: str = SITE_PACKAGES, more: str = ""
) -> Path:
    """Add a package as pip does, `more` being a line of its RECORD; return its METADATA."""
    info = f"{name}-1.0.dist-info"
    add(prefix, f"{site}/{name}.py", f"# {name}\n")
    add(prefix, f"bin/{name}", "#!/bin/sh\n", 0o755)
    add(prefix, f"{site}/{info}/INSTALLER", "pip\n")
    names = [f"{name}.py", f"../../../bin/{name}", *(f"{info}/{n}" for n in RECORDED)]
    add(prefix, f"{site}/{info}/RECORD", "".join(f"{each},,\n" for each in names) + more)
    return add(prefix, f"{site}/{info}/METADATA", metadata(name, "1.0", *requires))


def carried(old: Path, new: Path) -> list[str]:
    return additions.carry_over(old, new, "3.9", COMMAND)


def test_an_added_package_is_in_the_new_environment(
    old: Path, new: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert carried(tmp_path / "missing", new) == carried(old, new) == []
    install(old, "pandas", "numpy>=1.20", "six; python_version < '3'", "pytest; extra == 'test'")
    # Modules for another Python change nothing.
    add(tmp_path, "enum.py", "raise SyntaxError('of Python 2')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert carried(old, new) == ["kept, added by you: pandas 1.0"]
    assert (new / SITE_PACKAGES / "pandas.py").read_text() == "# pandas\n"
    assert (new / "bin/pandas").stat().st_mode & 0o777 == 0o755
    info = new / SITE_PACKAGES / "pandas-1.0.dist-info"
    assert sorted(path.name for path in info.iterdir()) == sorted(RECORDED)
    assert {each.name for each in additions.added_to(new) or ()} == {"pandas"}


def test_two_packages_with_a_file_in_common(old: Path, new: Path) -> None:
    for name in ("backports_abc", "backports_ssl"):
        install(old, name, more="backports/__init__.py,,\n")
    add(old, f"{SITE_PACKAGES}/backports/__init__.py", "common\n")
    assert carried(old, new) == ["kept, added by you: backports_abc 1.0, backports_ssl 1.0"]
    assert (new / SITE_PACKAGES / "backports/__init__.py").read_text() == "common\n"


def test_what_the_new_lock_does_not_suit_is_named_as_pip_says_it(old: Path, new: Path) -> None:
    install(old, "pandas", "numpy>=1.23")
    install(old, "seaborn", "gone")
    install(old, "toolz")
    assert carried(old, new) == [
        "kept, added by you: pandas 1.0, seaborn 1.0, toolz 1.0",
        "warning: seaborn 1.0 requires gone, which is not installed; "
        f"`{COMMAND} --upgrade seaborn` takes a version that fits",
        "warning: pandas 1.0 has requirement numpy>=1.23, but you have numpy 1.22.4; "
        f"`{COMMAND} --upgrade pandas` takes a version that fits",
    ]


@pytest.mark.parametrize(
    ("name", "site", "locked", "reason"),
    [
        ("NumPy", SITE_PACKAGES, "", "the lock has NumPy 1.22.4"),
        ("pandas", SITE_PACKAGES, "bin/pandas", "bin/pandas is in the way of a locked file; get"),
        ("pandas", SITE_PACKAGES, f"{SITE_PACKAGES}/pandas-1.0.dist-info", "is in the way of a"),
        ("pandas", "lib/python2.7/site-packages", "", "it is not for Python 3.9; get it back with"),
    ],
)
def test_a_package_that_is_not_kept(
    name: str, site: str, locked: str, reason: str, old: Path, new: Path
) -> None:
    install(old, name, site=site)
    if locked:
        add(new, locked, "locked")
    [line] = carried(old, new)
    assert line.startswith(f"not kept, added by you: {name} 1.0: ") and reason in line
    assert ("get it back with" in line) == (name != "NumPy")
    assert not locked or (new / locked).read_text() == "locked"


def test_where_nobody_knows_what_was_added(
    old: Path, new: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(old, "pandas")
    add(old, MANIFEST, "{}")
    [line] = carried(old, new)
    assert "list of this environment's files is damaged" in line and f"`{COMMAND} NAME`" in line
    assert not (new / SITE_PACKAGES / "pandas.py").exists()
    monkeypatch.setattr(additions, "OWN_PYTHON", ("/bin/false",))
    with pytest.raises(StacksError, match="what you have added cannot be listed") as caught:
        carried(old, new)
    assert "--clean" in str(caught.value.fix)


@pytest.mark.parametrize(
    ("name", "files", "modules"),
    [
        ("six", ["six.py", "six-1.0.dist-info/METADATA"], ["six"]),
        ("Flask-Login", ["flask_login/__init__.py", "flask_login/utils.py"], ["flask_login"]),
        ("scikit-learn", ["sklearn/__init__.py", "sklearn/svm/__init__.py"], ["sklearn"]),
        ("mmh3", ["mmh3.cpython-39-x86_64-linux-gnu.so"], ["mmh3"]),
        ("PyYAML", ["yaml/__init__.py", "_yaml/__init__.py"], ["yaml"]),
        ("setuptools", ["setuptools/__init__.py", "pkg_resources/__init__.py"], ["setuptools"]),
        ("pair", ["b/__init__.py", "a.py", "tests/__init__.py"], ["a", "b"]),
        ("protobuf", ["google/protobuf/__init__.py"], ["google.protobuf"]),
        ("data", ["../../../share/data/x.csv", "x-data/__init__.py", "a/b.py"], []),
    ],
)
def test_the_modules_of_a_distribution(name: str, files: list[str], modules: list[str]) -> None:
    assert additions.modules_of(name, map(PurePosixPath, files)) == modules


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """Give an environment with packages of which one can be imported."""
    prefix = tmp_path / "environment"
    runs_python(prefix)
    for name, text in (
        ("good", ""),
        ("bad", "import no.such"),
        ("meteo", "1 / 0"),
        ("keras", "import no"),
        ("old", "import good.new"),
    ):
        add(prefix, f"{SITE_PACKAGES}/{name}.py", text)
        record = f"{name}-1.0.dist-info/RECORD"
        add(prefix, f"{SITE_PACKAGES}/{record}", f"{name}.py,,\n{record},,\n")
    return prefix


def test_a_package_that_cannot_be_imported_is_named_with_the_reason(
    variant: Variant, prefix: Path
) -> None:
    stack = variant.model_copy(
        update={
            "requests": ("good", "bad[extra]>=1; python_version > '3'", "missing", "Keras", "old"),
            "declared": {"packages": ["meteo >=1", "meteo-data"]},
        }
    )
    assert additions.import_warnings(stack, prefix) == [
        "warning: bad cannot be imported: ModuleNotFoundError: No module named 'no'; add what has "
        "the module no to `pip:`",
        "warning: Keras cannot be imported: ModuleNotFoundError: No module named 'no'; the last "
        "that runs on Theano is keras==2.3.1",
        "warning: old cannot be imported: ModuleNotFoundError: No module named 'good.new'; 'good' "
        "is not a package; the good that is there lacks it: ask for another version of old",
        "warning: meteo cannot be imported: ZeroDivisionError: division by zero",
    ]
    assert additions.import_warnings(variant, prefix) == []


@pytest.mark.parametrize(
    ("flavour", "framework", "names"),
    [
        ("openblas@conda-forge", "theano-1.0.5", [ACCELERATOR, SCAN_FIX, "theano-settings"]),
        ("openblas@conda-forge", "pytensor-3.3.7", [SCAN_FIX, "pytensor-settings"]),
        ("pip-default@conda-forge", "theano-1.0.5", ["theano-settings"]),
        ("openblas@conda-forge", "aesara-2.8.7", ["aesara-settings"]),
        ("openblas", "theano-1.0.5", []),
    ],
)
def test_packages_beside_another_channels(
    workspace: Workspace, flavour: str, framework: str, names: list[str]
) -> None:
    candidates = folders.unlocked(workspace, load_variant(workspace, flavour, framework))
    assert [candidate.recipe.package.name for candidate in candidates] == names
    accelerator = [o for o in candidates if o.recipe.package.name in (ACCELERATOR, SCAN_FIX)]
    assert {candidate.file_name for candidate in accelerator} <= read_channel(
        workspace
    ).candidates.keys()


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("aocl-libm-linux-gcc-4.2.0.tar.gz", "4.2.0"),
        ("aocl-linux-aocc-5.0.0_1.tar.gz", "5.0.0"),
        ("amdlibm-3-0-2.tar.gz", "3.0.2"),
        ("library.tar.gz", "0"),
    ],
)
def test_the_version_is_in_the_archives_name(name: str, version: str) -> None:
    assert packages._version_of(name) == version


def test_the_users_archive_is_amds_and_for_variants_with_its_functions(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variant, archive = load_variant(workspace, "openblas-amdlibm"), tmp_path / "libm.tar.gz"
    monkeypatch.delenv("AMDLIBM_TARBALL", raising=False)
    assert packages.user_packages(workspace, variant) == {}
    monkeypatch.setenv("AMDLIBM_TARBALL", str(archive))
    assert packages.user_packages(workspace, load_variant(workspace, "openblas")) == {}
    with pytest.raises(UsageError, match=r"AMDLIBM_TARBALL: .*No such file"):
        packages.user_packages(workspace, variant)
    archive.write_bytes(b"PK\3\4")
    with pytest.raises(UsageError, match=r"(?s)not AMD LibM.*aocl-libm-linux-gcc-VERSION\.tar\.gz"):
        packages.user_packages(workspace, variant)


NEEDS = ["python 3.9.*", "__glibc >=2.17", "__glibc >=2.29,<3.0.a0"]


@pytest.mark.parametrize(
    ("system", "cpu", "libc", "found"),
    [
        *(("Linux", "x86_64", ("glibc", v), None) for v in ("2.29", "2.100", "3.0")),
        ("Darwin", "x86_64", ("", ""), "Darwin on x86_64"),
        ("Linux", "aarch64", ("glibc", "2.36"), "Linux on aarch64"),
        ("Linux", "x86_64", ("glibc", "2.9"), "glibc 2.9"),
        ("Linux", "x86_64", ("", ""), "another C library (musl?)"),
        ("Linux", "x86_64", ("musl", "1.2.4"), "musl 1.2.4"),
    ],
)
def test_the_machine(
    system: str, cpu: str, libc: tuple[str, str], found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: cpu)
    monkeypatch.setattr(platform, "libc_ver", lambda: libc)
    if found is None:
        packages.check_host(NEEDS)
        return
    with pytest.raises(UsageError) as caught:
        packages.check_host(NEEDS)
    assert caught.value.found == found
    assert caught.value.fix and "container" in caught.value.fix
    if " on " not in found:
        assert caught.value.expected == "glibc 2.29 or newer"
