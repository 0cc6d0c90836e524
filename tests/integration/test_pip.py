"""What pip, uv and conda list in an environment, and what a user's own pip does there."""

import base64
import csv
import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from unit.helpers.serving import serving

from integration.conda_client import Conda
from integration.conftest import Prefix
from integration.programs import called
from integration.tiny import Tiny
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace, default_workspace
from stacks.environments.folders import READY
from stacks.environments.make import build as pipeline
from stacks.environments.make import settings
from stacks.environments.make.settings import EXPECTATION
from stacks.locks import requirements, uv
from stacks.sources.pins import read_pins
from stacks.variants.load import all_variants

VARIANTS = sorted(
    (variant.framework.name, variant.name)
    for variant in all_variants(default_workspace())
    if variant.name in ("openblas", "pip-openblas", "gpuarray")
)
# Debian's Python 2.7 has metadata of these modules of the standard library; pip leaves them out.
STANDARD = {"python", "argparse", "wsgiref"}
QUIET = ("--disable-pip-version-check",)


@pytest.fixture(scope="session")
def uv_program(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the uv that `lock` uses."""
    return uv.unpack(workspace, read_pins(workspace.sources_lock), tmp_path_factory.mktemp("uv"))


def wheel(folder: Path, name: str, version: str, *requires: str) -> None:
    """Write a wheel of a module and a script of this name."""
    info = f"{name}-{version}.dist-info"
    metadata = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {r}" for r in requires)]
    files = {
        f"{name}.py": f"def main():\n    print('{name} {version}')\n",
        f"{info}/METADATA": "\n".join(["Metadata-Version: 2.1", *metadata, ""]),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py2.py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
    }
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py2.py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        names = [*files, f"{info}/RECORD"]
        archive.writestr(f"{info}/RECORD", "".join(f"{each},,\n" for each in names))


def pip(program: Path, *words: str, links: Path) -> subprocess.CompletedProcess[str]:
    """Run a pip as a user does, by its path, with a folder of wheels for an index."""
    env = {"HOME": str(links), "PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1"}
    env |= {"PIP_FIND_LINKS": links.as_uri(), "PIP_NO_CACHE_DIR": "1"}
    return called([program, *words, *QUIET], env=env)


def check_records(place: Path) -> dict[str, str]:
    """Return the versions of all distributions, whose RECORD must be that of the files on disk."""
    [site_packages] = place.glob("lib/python*/site-packages")
    found, recorded = {}, set()
    for folder in site_packages.glob("*.dist-info"):
        distribution = importlib.metadata.PathDistribution(folder)
        name, version = canonicalize_name(distribution.metadata["Name"]), distribution.version
        found[str(name)] = version
        assert folder.name == f"{name.replace('-', '_')}-{version}.dist-info"
        assert distribution.read_text("INSTALLER") in ("conda\n", "pip\n")
        with (folder / "RECORD").open(newline="", encoding="utf-8") as file:
            for path, digest, size in csv.reader(file):
                installed = Path(os.path.normpath(folder.parent / path))
                recorded.add(installed)
                data = installed.read_bytes()
                if installed != folder / "RECORD":
                    encoded = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
                    expected = "sha256=" + encoded.rstrip(b"=").decode(), str(len(data))
                    assert (digest, size) == expected, installed
    # Else pip would leave files behind, and conda would list more than pip.
    for record in place.glob("conda-meta/*.json"):
        package = json.loads(record.read_bytes())
        files = {place / name for name in package["files"]}
        # The settings are no distribution: pip lists neither them nor Python.
        has_modules = any(site_packages in file.parents for file in files)
        if has_modules and not package["name"].endswith(("python", "-settings")):
            assert found[canonicalize_name(package["name"])] == package["version"]
            assert files <= recorded, sorted(files - recorded)[:3]
    return found


def versions(listed: str | bytes) -> dict[str, str]:
    """Return the versions of packages that a program lists as JSON."""
    return {canonicalize_name(each["name"]): each["version"] for each in json.loads(listed)}


@pytest.mark.parametrize(("framework", "flavour"), VARIANTS)
def test_all_programs_list_the_same_packages(
    framework: str, flavour: str, prefix: Prefix, uv_program: Path, conda: Conda
) -> None:
    """Compare the packages that pip, importlib.metadata, pkg_resources, uv and the lock name."""
    place = prefix(framework, flavour)
    found, python = check_records(place), place / "bin/python"
    locked = json.loads((place / EXPECTATION).read_bytes())["packages"]
    by_pip = {canonicalize_name(each["name"]) for each in locked if each["manager"] == "pip"}
    pip: list[str | Path] = [python, "-m", "pip", *QUIET]
    assert versions(subprocess.check_output([*pip, "list", "--format=json"])) == found
    assert by_pip <= found.keys()
    code = "import pkg_resources as p; print('\\n'.join(d.key for d in p.working_set))"
    has_it = called([python, "-c", code])
    if has_it.returncode == 0:
        keys = {canonicalize_name(name) for name in has_it.stdout.split()}
        assert keys - STANDARD == found.keys()
    # uv knows no Python 2.7.
    if not (place / "lib/python2.7").is_dir():
        words: list[str | Path] = [uv_program, "pip", "list", "--format=json", "--python", python]
        assert versions(subprocess.check_output(words, cwd=place)) == found
    text = conda.succeed("list", "--json", "--prefix", place)
    assert len(versions(text)) == len(json.loads(text)), "conda lists a package twice"
    assert found.items() <= versions(text).items()
    others = {canonicalize_name(e["name"]) for e in json.loads(text) if e["channel"] == "pypi"}
    assert others - STANDARD == by_pip
    subprocess.run([*pip, "check"], check=True)


def verified(place: Path) -> str:
    """Compare the files of an environment with its manifest, as `verify` does first."""
    code = "import sys; from verify.checks import files; from verify.core import expectation as e\n"
    code += "check = files.check_prefix(sys.argv[1], e.load(sys.argv[1] + '/' + sys.argv[2]))\n"
    code += "print(check.status, check.detail)"
    command = [sys.executable, "-c", code, str(place), EXPECTATION]
    env = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.check_output(command, env=env, text=True)


def test_a_users_package_survives_until_a_clean_build(
    tiny: Tiny, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place, links = tiny.make("by-conda"), tmp_path / "links"
    wheel(links, "mine", "1.0", "six")
    wheel(links, "six", "1.15.0")
    done = pip(place / "bin/pip", "install", "mine", links=links)
    assert done.returncode == 0, done.stderr
    assert verified(place).startswith("pass ")
    assert "added by you: mine 1.0 by pip" in verified(place)

    # As after a change of the lock.
    (place / READY).unlink()
    tiny.make("by-conda")
    assert "kept, added by you: mine 1.0" in capfd.readouterr().err
    assert subprocess.check_output([place / "bin/mine"], text=True) == "mine 1.0\n"
    assert "added by you: mine 1.0 by pip" in verified(place)

    variant = tiny.variant("by-conda")
    pipeline.make_environment(tiny.workspace, variant, place, repair=True)
    assert subprocess.check_output([place / "bin/mine"], text=True) == "mine 1.0\n"

    pipeline.make_environment(tiny.workspace, variant, place, clean=True)
    assert not (place / "bin/mine").exists()
    assert "added by you" not in verified(place)


def test_pip_does_not_replace_a_locked_package_on_python_2(tiny: Tiny, tmp_path: Path) -> None:
    place, links = tiny.make("by-pip"), tmp_path / "links"
    wheel(links, "mine", "1.0", "six>=2")
    for version in ("1.15.0", "2.0"):
        wheel(links, "six", version)
    done = pip(place / "bin/pip", "install", "--upgrade", "--no-deps", "six", links=links)
    assert "Requirement already satisfied: six" in done.stdout
    for wish in ("six==1.15.0", "mine"):
        done = pip(place / "bin/pip", "install", wish, links=links)
        assert done.returncode == 1 and "ERROR: " in done.stderr
    assert verified(place).startswith("pass ")


def test_pip_says_why_and_what_to_do(prefix: Prefix, tmp_path: Path) -> None:
    place, links = prefix("theano-1.0.5", "openblas"), tmp_path / "links"
    wheel(links, "mine", "1.0", "numpy>=99")
    wheel(links, "numpy", "99.0")
    for wish, cause in (
        ("numpy==99.0", "The user requested numpy==99.0"),
        ("mine", "mine 1.0 depends on numpy>=99"),
    ):
        done = pip(place / "bin/pip", "install", "--dry-run", wish, links=links)
        output = done.stdout + done.stderr
        assert done.returncode == 1 and cause in output
        assert f"The user requested (constraint) numpy{settings.HINT}" in output


def test_a_virtual_environment_on_top_and_a_separate_one(prefix: Prefix, tmp_path: Path) -> None:
    place, links = prefix("theano-1.0.5", "openblas"), tmp_path / "links"
    wheel(links, "numpy", "99.0")
    wheel(links, "mine", "1.0", "numpy")
    venv, separate = tmp_path / "a venv, é", tmp_path / "separate"
    words: list[str | Path] = [place / "bin/python", "-m", "venv"]
    subprocess.run([*words, "--system-site-packages", venv], check=True)
    code = "import theano, os; c = theano.config; print(c.cxx, c.blas.ldflags); "
    code += "print(c.base_compiledir); print(os.environ['PATH'])"
    output = subprocess.check_output(
        [venv / "bin/python", "-c", code], text=True, env={"PATH": "/bin", "HOME": str(tmp_path)}
    )
    flags, compiled, path = output.splitlines()
    assert flags == "g++ -lblas_threads -lopenblas"
    assert compiled == f"{place}/var/compiledir"
    assert path == f"{venv}/bin:{place}/bin:/bin"
    done = pip(venv / "bin/pip", "install", "numpy==99.0", links=links)
    assert done.returncode == 1 and settings.HINT in done.stdout + done.stderr
    done = pip(venv / "bin/pip", "install", "mine", links=links)
    assert done.returncode == 0, done.stderr
    assert subprocess.check_output([venv / "bin/mine"], text=True) == "mine 1.0\n"
    # Nothing of it is in the environment below.
    assert not (place / "bin/mine").exists()
    subprocess.run([*words, separate], check=True)
    done = pip(separate / "bin/pip", "install", "numpy==99.0", links=links)
    assert done.returncode == 0, done.stderr


def test_a_lock_on_python_2_7_reads_each_page_of_the_index_once(
    prefix: Prefix, tmp_path: Path
) -> None:
    python = prefix("theano-0.8.2", "openblas") / "bin/python"
    wheel(tmp_path, "one", "1", "two>1", "three")
    wheel(tmp_path, "two", "1")
    wheel(tmp_path, "two", "2", "three<2")
    wheel(tmp_path, "three", "1")
    wheel(tmp_path, "three", "2")
    words = ["download", "--quiet", "--no-cache-dir", "-d", str(tmp_path / "files"), "one", *QUIET]
    with serving() as site:
        for name in ("one", "two", "three"):
            files = sorted(tmp_path.glob(f"{name}-*.whl"))
            site.files |= {f"/{file.name}": file.read_bytes() for file in files}
            links = "".join(f'<a href="/{file.name}">{file.name}</a>\n' for file in files)
            site.files[f"/simple/{name}/"] = f"<!DOCTYPE html><html>{links}</html>".encode()
        env = {"PIP_INDEX_URL": f"{site.url}/simple", "HOME": str(tmp_path)}
        command: list[str | Path] = [python, "-E", "-s", "-c", requirements.PIP_20, *words]
        subprocess.run(command, cwd=tmp_path, env=env, check=True)
    made = sorted(each.name.partition("-py")[0] for each in (tmp_path / "files").iterdir())
    assert made == ["one-1", "three-1", "two-2"]
    pages = [path for path in site.paths() if path.startswith("/simple/")]
    assert sorted(pages) == ["/simple/one/", "/simple/three/", "/simple/two/"]
