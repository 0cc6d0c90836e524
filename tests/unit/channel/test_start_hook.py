"""What an environment's start hook sets, for its settings, its compiler, pip and its threads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from stacks.channel.settings_files import CONSTRAINTS, HOOK, MODULES, MODULES_VARIABLE
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
        (
            {"PATH": "/usr/bin:/bin"},
            {"PATH": "PREFIX/bin:/usr/bin:/bin", "THEANORC": "~/.theanorc"},
        ),
        ({"PATH": "/bin", "THEANORC": "/a:/b"}, {"THEANORC": "/a:/b"}),
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
        (
            {
                "/proc/self/cgroup": "0::/my jobs/a\n",
                "/sys/fs/cgroup/my jobs/cpu.max": "200000 100000\n",
            },
            "2",
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
