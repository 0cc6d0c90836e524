"""What an environment's start hooks set: settings, compiler, pip, threads, compile folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stacks.channel.settings_files import (
    CONSTRAINTS,
    DEVICE_HOOK,
    HOOK,
    HOOKS,
    MODULES,
    MODULES_VARIABLE,
)
from stacks.core.workspace import Workspace
from stacks.environments.make import settings
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.starts import PACKAGES, install_settings, variables_after


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
    before = (
        "os.sched_getaffinity = lambda process: range(8)\n"
        f"def opened(name, *mode, files={system!r}):\n"
        "    if name.startswith(sys.base_prefix): return open(name, *mode)\n"
        "    if name not in files: raise IOError(name)\n"
        "    return io.StringIO(files[name])\n"
        "own['open'] = opened"
    )
    return variables_after(variant, prefix, f"{HOOK}.py", before, environ, venv)


def test_the_hook_puts_the_environments_folder_into_variables(
    variant: Variant, prefix: Path
) -> None:
    own = variant.model_copy(update={"variables": {"CACHE": "{prefix}/var/x", "NAME": "a"}})
    found = hook(own, prefix, PATH="/bin")
    assert (found["CACHE"], found["NAME"]) == (f"{prefix}/var/x", "a")
    assert hook(own, prefix, PATH="/bin", CACHE="/mine")["CACHE"] == "/mine"
    # Nobody can write to a folder that is not there, root included.
    (prefix / "var").rename(prefix / "gone")
    left = hook(own, prefix, PATH="/bin")
    assert ("CACHE" in left, left["NAME"]) == (False, "a")


def test_the_hook_names_the_folder_of_shared_modules(variant: Variant, prefix: Path) -> None:
    cache = prefix.parent / "a cache, é"
    name = MODULES_VARIABLE
    install_settings(variant, prefix)
    assert name not in hook(variant, prefix, PATH="/bin")
    settings.write(variant, prefix, prefix, list(PACKAGES), cache)
    # Nobody can write to a folder that is not there, root included.
    assert name not in hook(variant, prefix, PATH="/bin")
    cache.mkdir()
    assert hook(variant, prefix, PATH="/bin")[name] == str(cache / "modules")
    assert hook(variant, prefix, PATH="/bin", **{name: "0"})[name] == "0"


@pytest.mark.parametrize("name", ["pip-default theano-1.0.5", "openblas pytensor-3.3.7"])
def test_variants_that_share_no_modules(workspace: Workspace, tmp_path: Path, name: str) -> None:
    chosen = load_variant(workspace, *name.split())
    install_settings(chosen, tmp_path)
    settings.write(chosen, tmp_path, tmp_path, list(PACKAGES), Path("/cache"))
    assert not (tmp_path / MODULES).exists()


@pytest.mark.parametrize(
    ("given", "after"),
    [
        # A child's Python.
        (
            {"PATH": "PREFIX/bin:/bin", "THEANORC": "PREFIX/etc/theanorc:/a"},
            {"PATH": "PREFIX/bin:/bin", "THEANORC": "/a"},
        ),
        # Another environment's settings end here.
        (
            {"PATH": "/bin", "THEANORC": "FOLDER/other/etc/theanorc:/etc/rc"},
            {"THEANORC": "/etc/rc"},
        ),
        # The user's own file beside a checkout of the project.
        ({"PATH": "/bin", "THEANORC": "FOLDER/.theanorc"}, {"THEANORC": "FOLDER/.theanorc"}),
    ],
)
def test_the_hook_names_the_settings_first_and_keeps_the_users(
    variant: Variant, prefix: Path, tmp_path: Path, given: dict[str, str], after: dict[str, str]
) -> None:
    for folder in ("other/etc/theano-stacks", "theano-stacks"):
        (tmp_path / folder).mkdir(parents=True)

    def placed(text: str) -> str:
        return text.replace("PREFIX", str(prefix)).replace("FOLDER", str(tmp_path))

    found = hook(variant, prefix, **{name: placed(text) for name, text in given.items()})
    for name, text in after.items():
        start = f"{prefix}/etc/theanorc:" if name == "THEANORC" else ""
        assert found[name] == start + placed(text)


def test_the_hook_holds_pip_in_a_virtual_environment(
    variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    prefix = prefix.rename(tmp_path / "an environment, é 100%~")
    own = settings.url(prefix)
    other = "file:///a/etc/theano-stacks/constraints.txt"
    install_settings(variant, prefix)
    venv = tmp_path / "venv"
    # Another conda client leaves no constraints, but those of another environment end here, too.
    assert not hook(variant, prefix, venv=str(venv), PATH="/bin").get("PIP_CONSTRAINT")
    assert hook(variant, prefix, PATH="/bin", PIP_CONSTRAINT=f"m {other}")["PIP_CONSTRAINT"] == "m"
    (prefix / CONSTRAINTS).touch()
    assert "PIP_CONSTRAINT" not in hook(variant, prefix, PATH="/bin")
    found = hook(variant, prefix, venv=str(venv), PATH=f"{prefix}/bin:/bin")
    assert found["PIP_CONSTRAINT"] == own
    assert found["PATH"].startswith(f"{venv}/bin:{prefix}/bin:")
    # As the variable replaces what pip.conf says, the user's own are added to.
    for given in (f"mine.txt {other}", f"mine.txt {own}"):
        found = hook(variant, prefix, PATH="/bin", PIP_CONSTRAINT=given)
        assert found["PIP_CONSTRAINT"] == f"mine.txt {own}"


CPUINFO = """processor\t: 0
vendor_id\t: {vendor}
cpu family\t: {family}
model name\t: a: b
flags\t\t: fpu {flags}

processor\t: 1
vendor_id\t: another
"""
AVX2 = "avx2 fma"
AVX512 = f"{AVX2} avx512f avx512bw avx512cd avx512dq avx512vl"


def chosen(workspace: Workspace, prefix: Path, cpuinfo: str, **environ: str) -> str | None:
    found = hook(load_variant(workspace, "blis"), prefix, cpuinfo, PATH="/bin", **environ)
    return found.get("BLIS_ARCH_TYPE")


@pytest.mark.parametrize(
    ("cpuinfo", "kernels"),
    [
        (CPUINFO.format(vendor="AuthenticAMD", family=26, flags=AVX512), "0"),
        # Zen 5 where a hypervisor hides its AVX-512, Zen 4, and one yet to come.
        (CPUINFO.format(vendor="AuthenticAMD", family=26, flags=AVX2), "3"),
        (CPUINFO.format(vendor="AuthenticAMD", family=25, flags=AVX512), None),
        (CPUINFO.format(vendor="AuthenticAMD", family=27, flags=AVX512), "0"),
        (CPUINFO.format(vendor="AuthenticAMD", family=23, flags=AVX2), None),
        # Emerald Rapids, Haswell, Knights Landing, Sandy Bridge, and one of Intel's next family.
        (CPUINFO.format(vendor="GenuineIntel", family=6, flags=AVX512), "0"),
        (CPUINFO.format(vendor="GenuineIntel", family=6, flags=AVX2), None),
        (CPUINFO.format(vendor="GenuineIntel", family=6, flags=f"{AVX2} avx512f avx512cd"), None),
        (CPUINFO.format(vendor="GenuineIntel", family=6, flags="avx"), None),
        (CPUINFO.format(vendor="GenuineIntel", family=19, flags=AVX2), "3"),
        (CPUINFO.format(vendor="HygonGenuine", family=24, flags=AVX2), "3"),
        (CPUINFO.format(vendor="AuthenticAMD", family="?", flags=AVX2), None),
        ("", None),
    ],
)
def test_kernels_are_chosen_by_the_processors_features(
    workspace: Workspace, prefix: Path, cpuinfo: str, kernels: str | None
) -> None:
    assert chosen(workspace, prefix, cpuinfo) == kernels
    assert chosen(workspace, prefix, cpuinfo, BLIS_ARCH_TYPE="3") == "3"


V1, CPU = "7:memory:/x\n3:cpu,cpuacct:/a", "cpu,cpuacct"


@pytest.mark.parametrize(
    ("groups", "limits", "count"),
    [
        ("0::/a/b", {"a/b/cpu.max": "max 100000"}, None),
        ("0::/a/b", {"a/b/cpu.max": "100000 100000"}, "1"),
        # Rounded up; the least of all groups above counts.
        ("0::/a/b", {"a/cpu.max": "150000 100000"}, "2"),
        ("0::/a/b", {"a/cpu.max": "50000 100000", "a/b/cpu.max": "400000 100000"}, "1"),
        # More than the machine has.
        ("0::/a/b", {"cpu.max": "6400000 100000"}, None),
        (V1, {f"{CPU}/a/cpu.cfs_quota_us": "-1", f"{CPU}/a/cpu.cfs_period_us": "1000"}, None),
        # In a container the group's own path is that of the host.
        (V1, {f"{CPU}/cpu.cfs_quota_us": "3000", f"{CPU}/cpu.cfs_period_us": "1000"}, "3"),
        ("0::/my jobs/a", {"my jobs/cpu.max": "200000 100000"}, "2"),
    ],
)
def test_a_containers_quota_bounds_the_threads(
    workspace: Workspace, prefix: Path, groups: str, limits: dict[str, str], count: str | None
) -> None:
    files = {f"/sys/fs/cgroup/{name}": f"{limit}\n" for name, limit in limits.items()}
    text = json.dumps({"/proc/self/cgroup": f"{groups}\n", **files})
    for flavour, name in (("openblas", "OPENBLAS_NUM_THREADS"), ("mkl", "MKL_NUM_THREADS")):
        place = prefix.parent / flavour
        shutil.copytree(prefix, place)
        variant = load_variant(workspace, flavour, "theano-1.0.5")
        assert hook(variant, place, files=text, PATH="/bin").get(name) == count
        # The user's own count wins.
        own = hook(variant, place, files=text, PATH="/bin", OMP_NUM_THREADS="5")
        assert name not in own


def test_the_number_of_another_environment_is_no_wish(workspace: Workspace, prefix: Path) -> None:
    variant = load_variant(workspace, "blis", "theano-1.0.5")
    other = prefix.parent / "stack"
    shutil.copytree(prefix, other)
    number = {"BLIS_NUM_THREADS": "3", "THEANO_STACKS_NUM_THREADS": "BLIS_NUM_THREADS=3"}
    # The processors of a child may be fewer.
    found = hook(variant, prefix, PATH="/bin", **number)
    assert found["BLIS_NUM_THREADS"] == "8"
    assert found["THEANO_STACKS_NUM_THREADS"] == "BLIS_NUM_THREADS=8"
    # What a program has set for its child is one.
    own = hook(variant, prefix, PATH="/bin", **number, OMP_NUM_THREADS="1")
    assert {"BLIS_NUM_THREADS", "THEANO_STACKS_NUM_THREADS"}.isdisjoint(own)
    own = hook(variant, prefix, PATH="/bin", **{**number, "BLIS_NUM_THREADS": "2"})
    assert own["BLIS_NUM_THREADS"] == "2"
    # So is what this environment's variant sets.
    stack = variant.model_copy(update={"variables": {"BLIS_NUM_THREADS": "4"}})
    assert hook(stack, other, PATH="/bin", **number)["BLIS_NUM_THREADS"] == "4"


def started(
    variant: Variant, prefix: Path, access: str = "lambda *_: False", **environ: str
) -> dict[str, str]:
    """Return the variables of a Python that has started; `access` stands for os.access."""
    before = f"os.access = {access}"
    return variables_after(variant, prefix, "theano-stacks.pth", before, environ)


def test_another_persons_environment_compiles_into_ones_own_cache(
    variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home é"
    home.mkdir()
    rest = {"PATH": "/bin", "HOME": str(home), "TMPDIR": str(tmp_path)}
    assert "THEANO_FLAGS" not in started(variant, prefix, access="os.access", **rest)
    found = started(variant, prefix, THEANO_FLAGS="floatX=float32", **rest)
    given, own = found["THEANO_FLAGS"].split(",base_compiledir=")
    assert given == "floatX=float32"
    assert Path(own).parent == home / ".cache/theano-stacks/compiled"
    assert Path(own).name.startswith("prefix-") and Path(own).stat().st_mode & 0o777 == 0o700
    # The same in each process, and another program's start changes nothing more.
    assert started(variant, prefix, **rest)["THEANO_FLAGS"] == f"base_compiledir={own}"
    flags = found["THEANO_FLAGS"]
    assert started(variant, prefix, THEANO_FLAGS=flags, **rest)["THEANO_FLAGS"] == flags


def test_a_named_compile_folder_stays(variant: Variant, prefix: Path, tmp_path: Path) -> None:
    rest = {"PATH": "/bin", "HOME": str(tmp_path)}
    flags = "base_compiledir=/mine"
    assert started(variant, prefix, THEANO_FLAGS=flags, **rest)["THEANO_FLAGS"] == flags
    for line in ("base_compiledir = /mine", "compiledir=/mine", "base_compiledir: /mine"):
        (tmp_path / ".theanorc").write_text(f"[global]\n{line}\n")
        assert "THEANO_FLAGS" not in started(variant, prefix, **rest)
    # A setting whose name only contains it names none.
    (tmp_path / ".theanorc").write_text("[global]\n# base_compiledir = /mine\n")
    flags = "compiledir_format=compiledir_%(hostname)s"
    found = started(variant, prefix, THEANO_FLAGS=flags, **rest)
    assert found["THEANO_FLAGS"].startswith(f"{flags},base_compiledir={tmp_path}/.cache/")


def test_another_environments_compile_folder_ends_here(
    variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    rest = {"PATH": "/bin", "HOME": str(tmp_path)}
    other = f"base_compiledir={tmp_path}/.cache/theano-stacks/compiled/other-01234567"
    given = f"floatX=float32,{other}"
    found = started(variant, prefix, access="os.access", THEANO_FLAGS=given, **rest)
    assert found["THEANO_FLAGS"] == "floatX=float32"
    found = started(variant, prefix, THEANO_FLAGS=given, **rest)
    assert re.fullmatch(
        rf"floatX=float32,base_compiledir={tmp_path}/.cache/theano-stacks/compiled/prefix-\w+",
        found["THEANO_FLAGS"],
    )


def test_without_a_home_compiled_modules_are_in_a_temporary_folder_of_ones_own(
    variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    rest = {"PATH": "/bin", "TMPDIR": str(temporary)}
    flags = started(variant, prefix, **rest)["THEANO_FLAGS"]
    base = temporary / f"theano-stacks-{os.geteuid()}"
    assert flags.startswith(f"base_compiledir={base}/prefix-")
    # Where others can write, they could put modules of theirs.
    base.chmod(0o777)
    assert "THEANO_FLAGS" not in started(variant, prefix, **rest)
    shutil.rmtree(base)
    (tmp_path / "elsewhere").mkdir()
    base.symlink_to(tmp_path / "elsewhere")
    assert "THEANO_FLAGS" not in started(variant, prefix, **rest)


# As in Theano: it logs the error, and goes on.
GPUARRAY = """
import logging
pygpu_activated = {opened}
try:
    raise ValueError("no such device")
except Exception:
    logging.getLogger("theano.gpuarray").{level}("Could not initialize", exc_info=True)
"""


def imported(
    folder: Path, device: str = "cuda", opened: bool = False, level: str = "error", **env: str
) -> subprocess.CompletedProcess[str]:
    """Import a Theano with the hook in force; env: `first`: code that runs before the import."""
    package = folder / "theano" / "gpuarray"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text(
        f"class config: device = {device!r}\nimport theano.gpuarray\n"
    )
    (package / "__init__.py").write_text(GPUARRAY.format(opened=opened, level=level))
    (folder / "_theano_stacks_device.py").write_text((HOOKS / f"{DEVICE_HOOK}.py").read_text())
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); import _theano_stacks_device\n"
        f"print('logging' in sys.modules); {env.pop('first', 'pass')}\n"
        "import theano; print('imported')"
    )
    words = [sys.executable, "-I", "-S", "-c", code]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=env)


def test_a_device_that_was_not_opened_is_an_error(tmp_path: Path) -> None:
    done = imported(tmp_path)
    assert (done.returncode, done.stdout) == (1, "False\n"), "it imports nothing before Theano is"
    last = done.stderr.splitlines()[-3:]
    assert last[0] == (
        "RuntimeError: Theano cannot compute on the device of this environment: no such device"
    )
    assert last[2].endswith("THEANO_FLAGS=device=cpu")
    assert "Could not initialize" not in done.stderr, "the reason is in the error"


def test_a_program_that_logs_nothing_is_ended_too(tmp_path: Path) -> None:
    done = imported(tmp_path, first="import logging; logging.disable(logging.CRITICAL)")
    assert done.returncode == 1
    assert "environment: logging is disabled, so the reason is not known" in done.stderr


@pytest.mark.parametrize(
    "changes",
    [
        {"opened": True, "level": "warning"},
        {"device": "cpu", "level": "info"},
        # Of init_gpu_device, and of the second of two contexts.
        {"device": "cpu"},
        {"opened": True},
        # A program that has the device has started this one.
        {"THEANO_GPU_IS_ALREADY_ACTIVE": "Yes"},
    ],
)
def test_other_imports_go_on(tmp_path: Path, changes: dict[str, Any]) -> None:
    done = imported(tmp_path, **changes)
    assert (done.returncode, done.stdout) == (0, "False\nimported\n"), done.stderr
    assert ("Could not initialize" in done.stderr) == (changes.get("level") != "info")
