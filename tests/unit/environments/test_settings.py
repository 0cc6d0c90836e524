from __future__ import annotations

import configparser
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments import settings
from stacks.variants.files import FlavourFile, Processor
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

PACKAGES = [{"name": "python", "version": "3.9.2", "sha256": "0" * 64, "manager": "conda"}]
LINKED = "-lblas_threads -lopenblas"


@pytest.fixture
def variant(workspace: Workspace) -> Variant:
    return load_variant(workspace, "openblas", "theano-1.0.5")


def flags(text: str) -> dict[str, str]:
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return {f"{s}.{k}": v for s in parser.sections() for k, v in parser.items(s)}


def test_the_rc_file_as_theano_reads_it(variant: Variant) -> None:
    place = Path("/a b/é")
    assert flags(settings.rc_text(variant, settings.flags_of(variant, place))) == {
        "blas.ldflags": "-lblas_threads -lopenblas",
        "global.base_compiledir": "/a b/é/var/compiledir",
        "global.cxx": "g++",
        "global.device": "cpu",
        **({"global.floatx": "float64"} if "floatX" in variant.theano_flags() else {}),
    }


def test_a_percent_sign_comes_through_theanos_interpolation(variant: Variant) -> None:
    assert flags(settings.rc_text(variant, {"gcc.cxxflags": "-D%s=%%"})) == {
        "gcc.cxxflags": "-D%s=%%"
    }


@pytest.mark.parametrize("name", ["a:b", "a%b", "a\\b", "a;b", "a\nb"])
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
    message = undone(variant, THEANO_FLAGS=" device=cuda , blas.ldflags=-la=b,floatX,x=1")
    assert sorted(message) == [
        f"THEANO_FLAGS sets blas.ldflags to '-la=b', where the variant needs '{LINKED}'",
        "THEANO_FLAGS sets device to 'cuda', where the variant needs 'cpu'",
    ]


def test_rc_files_named_by_the_user(workspace: Workspace, variant: Variant, home: Path) -> None:
    (home / "mine").write_text("[blas]\nldflags = -lx\n")
    (home / ".theanorc").write_text("[blas]\nldflags = -ly\n")
    assert len(message := undone(variant, THEANORC="/no/such:~/mine:")) == 1
    assert message[0].startswith(f"{home}/mine sets blas.ldflags to '-lx'")


def test_an_environments_own_rc_file_overrides_nothing(
    workspace: Workspace, variant: Variant, home: Path
) -> None:
    (home / "etc/theano-stacks").mkdir(parents=True)
    (home / "etc/theanorc").write_text("[blas]\nldflags = -lx\n")
    assert undone(variant, THEANORC=f"{home}/etc/theanorc") == []


def hook(
    variant: Variant,
    prefix: Path,
    cpuinfo: str = "",
    venv: str = "",
    files: str = "{}",
    **environ: str,
) -> dict[str, str]:
    """Return the variables that a Python has once it ran the hook of an environment.

    venv: the virtual environment on top whose Python it is. files: {name: text} of the system's, as
    JSON; it has no others, and 8 processors.
    """
    system = {"/proc/cpuinfo": cpuinfo, **json.loads(files)}
    if not (prefix / settings.FOLDER).is_dir():
        settings.write(variant, prefix, prefix, list(PACKAGES))
    source = prefix / f"lib/python{variant.framework.python}/site-packages/{settings.HOOK}.py"
    code = (
        f"import io, json, os, sys; sys.base_prefix = {str(prefix)!r}; "
        f"sys.prefix = {str(venv or prefix)!r}; "
        f"sys.path.append({str(source.parent)!r}); "
        "os.sched_getaffinity = lambda process: range(8)\n"
        f"def opened(name, files={system!r}):\n"
        "    if name not in files: raise IOError(name)\n"
        "    return io.StringIO(files[name])\n"
        f"exec(open({str(source)!r}).read(), {{'open': opened}}); "
        "print(json.dumps(dict(os.environ)))"
    )
    output = subprocess.check_output([sys.executable, "-I", "-S", "-c", code], env=environ)
    found: dict[str, str] = json.loads(output)
    return found


@pytest.fixture
def prefix(tmp_path: Path, variant: Variant) -> Path:
    place = tmp_path / "prefix"
    (place / f"lib/python{variant.framework.python}/site-packages").mkdir(parents=True)
    return place


def test_the_hook_puts_the_environments_folder_into_variables(
    workspace: Workspace, variant: Variant, prefix: Path
) -> None:
    own = variant.model_copy(update={"variables": {"CACHE": "{prefix}/var/x", "NAME": "a"}})
    found = hook(own, prefix, PATH="/bin")
    assert (found["CACHE"], found["NAME"]) == (f"{prefix}/var/x", "a")
    assert hook(own, prefix, PATH="/bin", CACHE="/mine")["CACHE"] == "/mine"
    # Nobody can write to a folder that is not there, root included.
    (prefix / "var").rename(prefix / "gone")
    left = hook(own, prefix, PATH="/bin")
    assert ("CACHE" in left, left["NAME"]) == (False, "a")


def test_the_hook_names_the_folder_of_shared_modules(
    workspace: Workspace, variant: Variant, prefix: Path
) -> None:
    cache = prefix.parent / "a cache, é"
    name = settings.MODULES_VARIABLE
    settings.write(variant, prefix, prefix, list(PACKAGES), cache / "modules")
    # Nobody can write to a folder that is not there, root included.
    assert name not in hook(variant, prefix, PATH="/bin")
    cache.mkdir()
    assert hook(variant, prefix, PATH="/bin")[name] == str(cache / "modules")
    assert hook(variant, prefix, PATH="/bin", **{name: "0"})[name] == "0"


@pytest.mark.parametrize(
    ("flavour", "framework", "modules"),
    [
        ("openblas", "theano-1.0.5", None),
        ("pip-default", "theano-1.0.5", Path("/modules")),
        ("openblas", "pytensor-3.3.7", Path("/modules")),
    ],
)
def test_variants_that_share_no_modules(
    workspace: Workspace, tmp_path: Path, flavour: str, framework: str, modules: Path | None
) -> None:
    chosen = load_variant(workspace, flavour, framework)
    packages = tmp_path / f"lib/python{chosen.framework.python}/site-packages"
    packages.mkdir(parents=True)
    settings.write(chosen, tmp_path, tmp_path, list(PACKAGES), modules)
    assert "MODULES = b''" in (packages / f"{settings.HOOK}.py").read_text()
    assert settings.MODULES_VARIABLE not in hook(chosen, tmp_path, PATH="/bin")


def test_the_hook_names_the_settings_first(
    workspace: Workspace, variant: Variant, prefix: Path
) -> None:
    found = hook(variant, prefix, PATH="/usr/bin:/bin")
    assert found["THEANORC"] == f"{prefix}/etc/theanorc:~/.theanorc"
    assert found["PATH"] == f"{prefix}/bin:/usr/bin:/bin"


def test_the_hook_keeps_the_users_rc_files(
    workspace: Workspace, variant: Variant, prefix: Path
) -> None:
    found = hook(variant, prefix, PATH="/bin", THEANORC="/a:/b")
    assert found["THEANORC"] == f"{prefix}/etc/theanorc:/a:/b"


def test_the_hook_in_a_child_changes_nothing(
    workspace: Workspace, variant: Variant, prefix: Path
) -> None:
    environ = {"PATH": f"{prefix}/bin:/bin", "THEANORC": f"{prefix}/etc/theanorc:/a"}
    found = hook(variant, prefix, **environ)
    assert {name: found[name] for name in environ} == environ


def test_the_hook_holds_pip_in_a_virtual_environment(
    workspace: Workspace, variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    own = f"file://{prefix}/etc/theano-stacks/constraints.txt"
    other = "file:///a/etc/theano-stacks/constraints.txt"
    assert "PIP_CONSTRAINT" not in hook(variant, prefix, PATH="/bin")
    venv = tmp_path / "venv"
    found = hook(variant, prefix, venv=str(venv), PATH=f"{prefix}/bin:/bin")
    assert found["PIP_CONSTRAINT"] == own
    assert found["PATH"].startswith(f"{venv}/bin:{prefix}/bin:")
    # As the variable replaces what pip.conf says, the user's own are added to.
    for given in (f"mine.txt {other}", f"mine.txt {own}"):
        found = hook(variant, prefix, PATH="/bin", PIP_CONSTRAINT=given)
        assert found["PIP_CONSTRAINT"] == f"mine.txt {own}"


def test_the_hook_leaves_another_environments_settings_out(
    workspace: Workspace, variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    (tmp_path / "other/etc/theano-stacks").mkdir(parents=True)
    found = hook(variant, prefix, PATH="/bin", THEANORC=f"{tmp_path}/other/etc/theanorc:/etc/rc")
    assert found["THEANORC"] == f"{prefix}/etc/theanorc:/etc/rc"


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


def test_pytensor_has_no_device(workspace: Workspace, home: Path) -> None:
    assert "device" not in settings.flags_of(load_variant(workspace, "mkl", "pytensor-3.3.7"), home)


CPUINFO = """processor\t: 0
vendor_id\t: {vendor}
cpu family\t: {family}
model name\t: a: b
flags\t\t: fpu avx2 {flags}

processor\t: 1
vendor_id\t: another
"""
AVX512 = "avx512f avx512bw avx512cd avx512dq avx512vl"


def chosen(workspace: Workspace, prefix: Path, cpuinfo: str, **environ: str) -> str | None:
    found = hook(load_variant(workspace, "blis"), prefix, cpuinfo, PATH="/bin", **environ)
    return found.get("BLIS_ARCH_TYPE")


@pytest.mark.parametrize(
    ("cpuinfo", "kernels"),
    [
        (CPUINFO.format(vendor="AuthenticAMD", family=26, flags=AVX512), "0"),
        (CPUINFO.format(vendor="AuthenticAMD", family=26, flags="avx512f"), None),
        (CPUINFO.format(vendor="AuthenticAMD", family=25, flags=AVX512), None),
        (CPUINFO.format(vendor="GenuineIntel", family=26, flags=AVX512), None),
        ("", None),
    ],
)
def test_kernels_for_a_processor_that_the_library_does_not_know(
    workspace: Workspace, prefix: Path, cpuinfo: str, kernels: str | None
) -> None:
    assert chosen(workspace, prefix, cpuinfo) == kernels
    assert chosen(workspace, prefix, cpuinfo, BLIS_ARCH_TYPE="3") == "3"


# What a file of envs/ may hold, and each language has a meaning for.
NASTY = 'it\'s "quoted" """ $HOME `id` $(id) %s %(x)s {prefix}/x {0} \\ # [global] a=b: c, d'


def nasty(variant: Variant) -> Variant:
    """Return a variant whose every free text is nasty, but valid."""
    assert variant.blas
    processor = Processor(vendor=NASTY, family=0, flags=(NASTY,), environment={"A": NASTY})
    blas = variant.blas.model_copy(update={"ldflags": NASTY, "processors": (processor,)})
    changes = {"summary": NASTY, "flags": {"gcc.cxxflags": NASTY}, "variables": {"NASTY": NASTY}}
    return Variant.model_validate({**dict(variant), **changes, "blas": blas})


def test_nasty_values_come_out_of_theanos_parser_as_they_are(variant: Variant) -> None:
    text = settings.rc_text(nasty(variant), settings.flags_of(nasty(variant), Path("/p")))
    found = flags(text)
    assert found["gcc.cxxflags"] == found["blas.ldflags"] == NASTY
    assert sorted(found) == [
        "blas.ldflags", "gcc.cxxflags", "global.base_compiledir", "global.cxx", "global.device",
        "global.floatx",
    ]  # fmt: skip


@pytest.mark.parametrize("flag", ["DEFAULT.cxx", "floatX\n", "a]\n[global]\ncxx"])
def test_a_flag_cannot_open_another_section(variant: Variant, flag: str) -> None:
    with pytest.raises(ValidationError):
        FlavourFile.model_validate_json(json.dumps({"summary": "a", "flags": {flag: "evil"}}))


def pythons() -> list[str]:
    """Return this Python, and Python 2.7 where the machine has it."""
    old = shutil.which("python2.7")
    # A version manager has a program of this name that finds no Python.
    usable = old and subprocess.run([old, "-c", ""], env={}, capture_output=True).returncode == 0
    return [sys.executable, *([old] if old and usable else [])]


@pytest.mark.parametrize("python", pythons())
def test_nasty_values_come_out_of_the_hook_as_they_are(
    variant: Variant, tmp_path: Path, python: str
) -> None:
    prefix = tmp_path / "prefix"
    site_packages = prefix / "lib/python3.9/site-packages"
    site_packages.mkdir(parents=True)
    settings.write(nasty(variant), prefix, prefix, PACKAGES)
    hook = (site_packages / f"{settings.HOOK}.py").read_bytes()
    program = (
        "import os, runpy, sys, json\n"
        f"sys.prefix = sys.base_prefix = {str(prefix)!r}\n"
        "found = runpy.run_path(sys.argv[1])\n"
        "sys.stdout.write(json.dumps([os.environ['NASTY'], found['PROCESSORS']]))\n"
    )
    path = tmp_path / "hook.py"
    path.write_bytes(hook)
    done = subprocess.run(
        [python, "-c", program, str(path)], capture_output=True, text=True, check=False, env={}
    )
    assert done.stderr == ""
    value, [processor] = json.loads(done.stdout)
    assert value == NASTY.replace("{prefix}", str(prefix))
    assert processor == [NASTY, "0", [NASTY], [["A", NASTY]]]


@pytest.mark.parametrize("kind", ["hard link", "link"])
def test_settings_are_not_written_through_a_packages_file(
    kind: str, variant: Variant, tmp_path: Path
) -> None:
    prefix, cached = tmp_path / "hostile", tmp_path / "cached"
    cached.write_text("another environment's")
    site_packages = f"lib/python{variant.framework.python}/site-packages"
    names = (
        settings.RC_FILE,
        settings.EXPECTATION,
        f"{site_packages}/{settings.HOOK}.py",
        f"{site_packages}/theano-stacks.pth",
    )
    for name in names:
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            (prefix / name).symlink_to(cached)
        else:
            (prefix / name).hardlink_to(cached)
    packages = [{"name": "python", "version": "3.9.1", "sha256": "00", "manager": "conda"}]
    settings.write(variant, prefix, prefix, packages)
    assert cached.read_text() == "another environment's"
    assert all((prefix / name).stat().st_nlink == 1 for name in names)
    assert not any((prefix / name).is_symlink() for name in names)


CGROUP_2 = {"/proc/self/cgroup": "0::/a/b\n"}
CGROUP_1 = {"/proc/self/cgroup": "7:memory:/x\n3:cpu,cpuacct:/a\n"}
V1 = "/sys/fs/cgroup/cpu,cpuacct"


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({}, None),
        (CGROUP_2, None),
        ({**CGROUP_2, "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, None),
        ({**CGROUP_2, "/sys/fs/cgroup/a/b/cpu.max": "100000 100000\n"}, "1"),
        # Rounded up; the least of all groups above counts.
        ({**CGROUP_2, "/sys/fs/cgroup/a/cpu.max": "150000 100000\n"}, "2"),
        (
            {
                **CGROUP_2,
                "/sys/fs/cgroup/a/cpu.max": "50000 100000\n",
                "/sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
            },
            "1",
        ),
        # More than the machine has.
        ({**CGROUP_2, "/sys/fs/cgroup/cpu.max": "6400000 100000\n"}, None),
        (
            {**CGROUP_1, f"{V1}/a/cpu.cfs_quota_us": "-1\n", f"{V1}/a/cpu.cfs_period_us": "1000\n"},
            None,
        ),
        # In a container the group's own path is that of the host.
        (
            {**CGROUP_1, f"{V1}/cpu.cfs_quota_us": "3000\n", f"{V1}/cpu.cfs_period_us": "1000\n"},
            "3",
        ),
    ],
)
def test_a_containers_quota_bounds_the_threads(
    workspace: Workspace, prefix: Path, files: dict[str, str], count: str | None
) -> None:
    text = json.dumps(files)
    for flavour, name in (("openblas", "OPENBLAS_NUM_THREADS"), ("mkl", "MKL_NUM_THREADS")):
        place = prefix.parent / flavour
        shutil.copytree(prefix, place)
        variant = load_variant(workspace, flavour, "theano-1.0.5")
        assert hook(variant, place, files=text, PATH="/bin").get(name) == count
        # The user's own count wins.
        own = hook(variant, place, files=text, PATH="/bin", OMP_NUM_THREADS="5")
        assert name not in own


def test_the_threads_of_a_library_whose_default_is_one(workspace: Workspace, prefix: Path) -> None:
    variant = load_variant(workspace, "blis", "theano-1.0.5")
    assert hook(variant, prefix, PATH="/bin")["BLIS_NUM_THREADS"] == "8"
