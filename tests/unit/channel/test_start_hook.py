"""What an environment's start hooks set: settings, compiler, pip, threads, compile folder."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.channel.settings_files import (
    CONSTRAINTS,
    FOLDER,
    HOOK,
    MODULES,
    MODULES_VARIABLE,
    PLACEHOLDER,
    render_files,
)
from stacks.core.workspace import Workspace
from stacks.environments.make import settings
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

PACKAGES = [{"name": "python", "version": "3.9.2", "sha256": "0" * 64, "manager": "conda"}]
# Of the system, the hook sees these files alone, and 8 processors.
SYSTEM = """\
os.sched_getaffinity = lambda process: range(8)
def opened(name, *mode, files={files!r}):
    if name.startswith(sys.base_prefix): return open(name, *mode)
    if name not in files: raise IOError(name)
    return io.StringIO(files[name])
own["open"] = opened
"""


def variables_after(
    variant: Variant, prefix: Path, file: str, before: str, environ: dict[str, str], venv: str = ""
) -> dict[str, str]:
    """Return the variables that a Python has once it ran a file of site-packages.

    Missing settings are written first, as a conda client does. before: code that stands for the
    system. venv: the virtual environment on top, whose Python it is.
    """
    site = f"lib/python{variant.framework.python}/site-packages"
    for name, text in render_files(variant).items() if not (prefix / FOLDER).is_dir() else ():
        path = prefix / re.sub("^site-packages", site, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(PLACEHOLDER, str(prefix)), encoding="utf-8")
    code = (
        f"import io, json, os, sys; sys.base_prefix = {str(prefix)!r}; "
        f"sys.prefix = {venv or str(prefix)!r}; sys.path.append({str(prefix / site)!r})\n"
        f"own = {{}}\n{before}\nexec(open({str(prefix / site / file)!r}).read(), own)\n"
        "print(json.dumps(dict(os.environ)))"
    )
    output = subprocess.check_output([sys.executable, "-I", "-S", "-c", code], env=environ)
    found: dict[str, str] = json.loads(output)
    return found


def hook(
    variant: Variant, prefix: Path, venv: str = "", files: object = None, **environ: str
) -> dict[str, str]:
    """Return the variables that a Python has once it ran the hook; PATH is /bin by default."""
    before, given = SYSTEM.format(files=files or {}), {"PATH": "/bin", **environ}
    return variables_after(variant, prefix, f"{HOOK}.py", before, given, venv)


def test_the_hook_puts_the_environments_folder_into_variables(
    variant: Variant, prefix: Path
) -> None:
    own = variant.model_copy(update={"variables": {"CACHE": "{prefix}/var/x", "NAME": "a"}})
    found = hook(own, prefix)
    assert (found["CACHE"], found["NAME"]) == (f"{prefix}/var/x", "a")
    assert hook(own, prefix, CACHE="/mine")["CACHE"] == "/mine"
    # Nobody can write to a folder that is not there, root included.
    (prefix / "var").rename(prefix / "gone")
    left = hook(own, prefix)
    assert ("CACHE" in left, left["NAME"]) == (False, "a")


def test_the_hook_names_the_folder_of_shared_modules(
    workspace: Workspace, variant: Variant, prefix: Path
) -> None:
    cache, name = prefix.parent / "a cache, é", MODULES_VARIABLE
    assert name not in hook(variant, prefix)
    settings.write(variant, prefix, prefix, list(PACKAGES), cache)
    assert name not in hook(variant, prefix)
    cache.mkdir()
    assert hook(variant, prefix)[name] == str(cache / "modules")
    assert hook(variant, prefix, **{name: "0"})[name] == "0"
    for words in (("pip-default", "theano-1.0.5"), ("openblas", "pytensor-3.3.7")):
        other, place = load_variant(workspace, *words), prefix.parent / words[1]
        settings.write(other, place, place, list(PACKAGES), cache)
        assert not (place / MODULES).exists(), "they share none"


@pytest.mark.parametrize(
    ("given", "after"),
    [
        # A child's Python.
        ({"PATH": "PREFIX/bin:/bin", "THEANORC": "PREFIX/etc/theanorc:/a"},
         {"PATH": "PREFIX/bin:/bin", "THEANORC": "/a"}),
        # Another environment's settings end here.
        ({"THEANORC": "FOLDER/other/etc/theanorc:/etc/rc"}, {"THEANORC": "/etc/rc"}),
        # The user's own file beside a checkout of the project.
        ({"THEANORC": "FOLDER/.theanorc"}, {"THEANORC": "FOLDER/.theanorc"}),
    ],
)  # fmt: skip
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
    own, venv = settings.url(prefix), str(tmp_path / "venv")
    other = "file:///a/etc/theano-stacks/constraints.txt"
    # Another conda client leaves no constraints, but those of another environment end here, too.
    assert not hook(variant, prefix, venv).get("PIP_CONSTRAINT")
    assert hook(variant, prefix, PIP_CONSTRAINT=f"m {other}")["PIP_CONSTRAINT"] == "m"
    (prefix / CONSTRAINTS).touch()
    assert "PIP_CONSTRAINT" not in hook(variant, prefix)
    found = hook(variant, prefix, venv, PATH=f"{prefix}/bin:/bin")
    assert found["PIP_CONSTRAINT"] == own
    assert found["PATH"].startswith(f"{venv}/bin:{prefix}/bin:")
    # As the variable replaces what pip.conf says, the user's own are added to.
    for given in (f"mine.txt {other}", f"mine.txt {own}"):
        found = hook(variant, prefix, PIP_CONSTRAINT=given)
        assert found["PIP_CONSTRAINT"] == f"mine.txt {own}"


CPUINFO = """processor\t: 0
vendor_id\t: {}
cpu family\t: {}
model name\t: a: b
flags\t\t: fpu {}

processor\t: 1
vendor_id\t: another
"""
AMD, INTEL, HYGON, AVX2 = "AuthenticAMD", "GenuineIntel", "HygonGenuine", "avx2 fma"
AVX512 = f"{AVX2} avx512f avx512bw avx512cd avx512dq avx512vl"


@pytest.mark.parametrize(
    ("processor", "kernels"),
    [
        ((AMD, 26, AVX512), "0"),
        # Zen 5 where a hypervisor hides its AVX-512, Zen 4, and one yet to come.
        ((AMD, 26, AVX2), "3"),
        ((AMD, 25, AVX512), None),
        ((AMD, 27, AVX512), "0"),
        ((AMD, 23, AVX2), None),
        # Emerald Rapids, Haswell, Knights Landing, Sandy Bridge, and one of Intel's next family.
        ((INTEL, 6, AVX512), "0"),
        ((INTEL, 6, AVX2), None),
        ((INTEL, 6, f"{AVX2} avx512f avx512cd"), None),
        ((INTEL, 6, "avx"), None),
        ((INTEL, 19, AVX2), "3"),
        ((HYGON, 24, AVX2), "3"),
        ((AMD, "?", AVX2), None),
        (None, None),
    ],
)
def test_kernels_are_chosen_by_the_processors_features(
    workspace: Workspace, prefix: Path, processor: tuple[object, ...], kernels: str | None
) -> None:
    files = {"/proc/cpuinfo": CPUINFO.format(*processor) if processor else ""}
    variant = load_variant(workspace, "blis")
    assert hook(variant, prefix, files=files).get("BLIS_ARCH_TYPE") == kernels
    assert hook(variant, prefix, files=files, BLIS_ARCH_TYPE="3")["BLIS_ARCH_TYPE"] == "3"


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
    files["/proc/self/cgroup"] = f"{groups}\n"
    for flavour, name in (("openblas", "OPENBLAS_NUM_THREADS"), ("mkl", "MKL_NUM_THREADS")):
        place = shutil.copytree(prefix, prefix.parent / flavour)
        variant = load_variant(workspace, flavour, "theano-1.0.5")
        assert hook(variant, place, files=files).get(name) == count
        # The user's own count wins.
        assert name not in hook(variant, place, files=files, OMP_NUM_THREADS="5")


def test_the_number_of_another_environment_is_no_wish(workspace: Workspace, prefix: Path) -> None:
    variant = load_variant(workspace, "blis", "theano-1.0.5")
    other = shutil.copytree(prefix, prefix.parent / "stack")
    blis, stacks = "BLIS_NUM_THREADS", "THEANO_STACKS_NUM_THREADS"
    number = {blis: "3", stacks: f"{blis}=3"}
    # The processors of a child may be fewer.
    found = hook(variant, prefix, **number)
    assert (found[blis], found[stacks]) == ("8", f"{blis}=8")
    # What a program has set for its child is one.
    assert {blis, stacks}.isdisjoint(hook(variant, prefix, **number, OMP_NUM_THREADS="1"))
    assert hook(variant, prefix, **{**number, blis: "2"})[blis] == "2"
    # So is what this environment's variant sets.
    stack = variant.model_copy(update={"variables": {blis: "4"}})
    assert hook(stack, other, **number)[blis] == "4"


def started(
    variant: Variant, prefix: Path, flags: str = "", access: str = "lambda *_: False", **rest: str
) -> str | None:
    """Return THEANO_FLAGS of a Python that has started; `access` stands for os.access."""
    environ = {"PATH": "/bin", **rest, **({"THEANO_FLAGS": flags} if flags else {})}
    before = f"os.access = {access}"
    found = variables_after(variant, prefix, "theano-stacks.pth", before, environ)
    return found.get("THEANO_FLAGS")


def test_another_persons_environment_compiles_into_ones_own_cache(
    variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home é"
    home.mkdir()
    rest = {"HOME": str(home), "TMPDIR": str(tmp_path)}
    assert started(variant, prefix, access="os.access", **rest) is None
    flags = started(variant, prefix, "floatX=float32", **rest)
    assert flags
    given, own = flags.split(",base_compiledir=")
    assert given == "floatX=float32"
    assert Path(own).parent == home / ".cache/theano-stacks/compiled"
    assert Path(own).name.startswith("prefix-") and Path(own).stat().st_mode & 0o777 == 0o700
    # The same in each process, and another program's start changes nothing more.
    assert started(variant, prefix, **rest) == f"base_compiledir={own}"
    assert started(variant, prefix, flags, **rest) == flags


def test_a_named_compile_folder_stays_and_another_environments_ends_here(
    variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    compiled, home = f"base_compiledir={tmp_path}/.cache/theano-stacks/compiled/", str(tmp_path)
    assert started(variant, prefix, "base_compiledir=/mine", HOME=home) == "base_compiledir=/mine"
    for line in ("base_compiledir = /mine", "compiledir=/mine", "base_compiledir: /mine"):
        (tmp_path / ".theanorc").write_text(f"[global]\n{line}\n")
        assert started(variant, prefix, HOME=home) is None
    # A setting whose name only contains it names none.
    (tmp_path / ".theanorc").write_text("[global]\n# base_compiledir = /mine\n")
    flags = "compiledir_format=compiledir_%(hostname)s"
    found = started(variant, prefix, flags, HOME=home)
    assert found and found.startswith(f"{flags},{compiled}")
    given = f"floatX=float32,{compiled}other-01234567"
    assert started(variant, prefix, given, access="os.access", HOME=home) == "floatX=float32"
    found = started(variant, prefix, given, HOME=home)
    assert re.fullmatch(rf"floatX=float32,{compiled}prefix-\w+", found or "")


def test_without_a_home_compiled_modules_are_in_a_temporary_folder_of_ones_own(
    variant: Variant, prefix: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    base, rest = temporary / f"theano-stacks-{os.geteuid()}", {"TMPDIR": str(temporary)}
    flags = started(variant, prefix, **rest)
    assert flags and flags.startswith(f"base_compiledir={base}/prefix-")
    # Where others can write, they could put modules of theirs.
    base.chmod(0o777)
    assert started(variant, prefix, **rest) is None
    shutil.rmtree(base)
    (tmp_path / "elsewhere").mkdir()
    base.symlink_to(tmp_path / "elsewhere")
    assert started(variant, prefix, **rest) is None
