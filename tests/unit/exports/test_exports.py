"""Each form of a variant, as the tool that reads it would; writing it, and the command."""

import ast
import hashlib
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.exports.forms import export, write
from stacks.exports.packages import Export, Subject, subject_of
from stacks.image.metadata import config_of
from stacks.locks import lock
from stacks.locks.lock import lock_folder
from stacks.tasks import use
from stacks.variants.load import load_variant
from stacks.variants.variant import on_other_channel
from unit.helpers.checkout import CHECKOUT
from verify.core import surroundings

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# What a language that quotes wrongly would run, end or fill in.
NASTY = 'it\'s "quoted" $HOME `id` $(id) [exit] : # - \\ {x} {{ y }} %s %(name)s é'
PLACE = "/checkout/build/prefixes/theano-1.0.5/mkl"


def subject(name: str, framework: str = "theano-1.0.5") -> Subject:
    """Return a committed variant with a nasty summary, whose environment is in /checkout."""
    variant = load_variant(CHECKOUT, name, framework)
    return Subject(
        variant=variant.model_copy(update={"summary": NASTY}),
        lock=lock.read(CHECKOUT, variant),
        folder=lock_folder(CHECKOUT, variant),
        image=config_of(CHECKOUT, variant),
        environment=Path("/checkout/build/prefixes") / variant.id,
        homepage="https://example.org/100%",
    )


MKL = subject("mkl")
# Of a stack.yaml.
OWN = {"A": '{prefix}/$x "b"', "B": "{prefix}/var/b"}
STACK = replace(MKL, variant=MKL.variant.model_copy(update={"declared": {"environment": OWN}}))


def files(form: str, of: Subject = MKL) -> dict[str, str]:
    return dict(export(of, form).files)


def test_committed_files_are_exported_as_they_are() -> None:
    """The baseline's settings are its own; compiler and compile folder are those of the machine."""
    made = export(MKL, "conda-lock")
    assert made.files == {"conda-lock.yml": (MKL.folder / "conda-lock.yml").read_text()}
    command = "conda-lock install -n theano-1.0.5-mkl {to}"
    assert made.usage == f"./invoke serve\nthen, in another terminal: {command}"
    default = subject("pip-default", "theano-0.8.2")
    made = export(default, "requirements")
    committed = default.folder / "requirements.txt"
    assert made.files["requirements.txt"] == committed.read_text()
    settings = ["[blas]", "ldflags = ", "", "[global]", "device = cpu", "floatX = float64"]
    assert made.files["theanorc"].splitlines()[1:] == settings
    assert made.usage.startswith("python2.7 -m pip install --require-hashes ")
    assert made.usage.endswith(" && THEANORC={to}/theanorc python2.7 train.py")


def test_environment_and_pixi_have_packages_by_build_and_pips_by_hash() -> None:
    """pip builds with the locked tools."""
    content = yaml.safe_load(files("environment")["environment.yml"])
    assert content["name"] == "theano-1.0.5-mkl"
    assert content["channels"] == ["http://localhost:8420/theano-stacks", "nodefaults"]
    expected = [f"{p.name}={p.version}={p.build}" for p in MKL.lock.packages]
    assert content["dependencies"] == expected
    assert "PIP_" not in export(MKL, "environment").usage
    pip = subject("pip-openblas")
    made = export(pip, "environment")
    theano = pip.lock.requirements[-1]
    text = made.files["environment.yml"]
    assert text.endswith(f"\n  - theano==1.0.5 --hash=sha256:{theano.sha256}\n")
    assert made.usage.endswith("PIP_NO_BUILD_ISOLATION=0 conda env create -f {to}")
    content = tomllib.loads(files("pixi")["pixi.toml"])
    assert content["workspace"] == {
        "name": "theano-1.0.5-mkl",
        "description": f"{NASTY}, on {MKL.variant.framework.summary}",
        "channels": ["http://localhost:8420/theano-stacks"],
        "platforms": ["linux-64"],
    }
    assert content.keys() == {"workspace", "system-requirements", "dependencies"}
    assert content["system-requirements"] == {"libc": "2.31"}
    digests = {name: table["sha256"] for name, table in content["dependencies"].items()}
    assert digests == {package.name: package.sha256 for package in MKL.lock.packages}


def test_pylock_has_files_by_path_for_one_python_and_the_settings() -> None:
    made = export(subject("pip-default", "pytensor-3.3.7"), "pylock")
    assert sorted(made.files) == ["pylock.toml", "pytensorrc", "requirements.txt"]
    text = made.files["pylock.toml"]
    content = tomllib.loads(text)
    assert (content["lock-version"], content["requires-python"]) == ("1.0", ">=3.13,<3.14")
    assert all("wheels" in each or "sdist" in each for each in content["packages"])
    assert "://" not in text
    assert "[blas]\nldflags = \n" in made.files["pytensorrc"]
    assert made.usage == (
        "python3.13 -m pip download --require-hashes --no-deps -d {to}/files "
        "-r {to}/requirements.txt && uv pip install -r {to}/pylock.toml && "
        "PYTENSORRC={to}/pytensorrc python3.13 train.py"
    )


def test_easyconfig_names_the_environment_file_with_its_hash() -> None:
    mkl = subject("mkl", "theano-pymc-1.1.2")
    made = files("easyconfig", mkl)
    text = made["environment.yml"]
    assert text == files("environment", mkl)["environment.yml"]
    pairs = [line.partition(" = ") for line in made["theano-pymc-1.1.2-mkl.eb"].splitlines()]
    # An easyconfig is Python.
    values = {name: ast.literal_eval(word) for name, _, word in pairs if word != "SYSTEM"}
    assert ("toolchain", " = ", "SYSTEM") in pairs
    assert (values["name"], values["version"]) == ("theano-pymc", "1.1.2")
    assert values["versionsuffix"] == "-mkl"
    assert values["checksums"] == [hashlib.sha256(text.encode()).hexdigest()]
    assert values["environment_file"] == "%(builddir)s/environment.yml"
    # EasyBuild fills in values with Python's operator %.
    assert str(values["description"]) % {} == mkl.summary
    assert str(values["homepage"]) % {} == mkl.homepage


def test_forms_of_the_image_have_the_code_in_its_work_folder_and_pass_a_gpu_through() -> None:
    made = files("devcontainer")
    assert [*made] == [".devcontainer/devcontainer.json", ".devcontainer/Dockerfile"]
    dockerfile = made[".devcontainer/Dockerfile"]
    assert "FROM theano-mkl:1.0.5 AS theano\n" in dockerfile
    # Root keeps its home, and its programs.
    assert 'ENV PATH="/opt/theano/bin:$PATH" LANG="C.UTF-8" PYTHONHASHSEED="0"\n' in dockerfile
    own = replace(STACK, image=config_of(CHECKOUT, STACK.variant))
    assert own.image.environment["A"] == '/opt/theano/$x "b"' and "B" not in own.image.environment
    of_stack = files("devcontainer", own)[".devcontainer/Dockerfile"]
    assert ' PYTHONHASHSEED="0" A="/opt/theano/\\$x \\"b\\""\n' in of_stack
    content = json.loads(made[".devcontainer/devcontainer.json"])
    assert (content["name"], content["build"]) == ("theano-1.0.5-mkl", {"dockerfile": "Dockerfile"})
    assert content["workspaceMount"] == "source=${localWorkspaceFolder},target=/work,type=bind"
    assert (content["workspaceFolder"], content["remoteUser"]) == ("/work", "theano")
    assert "runArgs" not in content
    text = files("compose", subject("mkl", "pytensor-3.3.7"))["compose.yaml"]
    assert yaml.safe_load(text)["services"] == {
        "pytensor": {
            "image": "pytensor-mkl:3.3.7",
            "user": f"${{RUN_AS:-{os.getuid()}:{os.getgid()}}}",
            "working_dir": "/work",
            "volumes": [{"type": "bind", "source": ".", "target": "/work"}],
        }
    }
    apptainer = export(MKL, "apptainer")
    text = apptainer.files["theano-1.0.5-mkl.def"]
    assert "\nBootstrap: oci-archive\nFrom: theano-mkl-1.0.5.oci.tar\n" in text
    # The user's home is mounted, with packages for other Pythons in it.
    assert "    export PYTHONNOUSERSITE=1\n" in text
    assert text.endswith('%runscript\n    exec /usr/local/bin/theano-stacks "$@"\n')
    assert "apptainer run theano-1.0.5-mkl.sif" in apptainer.usage
    cuda = subject("gpuarray-cuda")
    assert "run --nv theano-1.0.5-gpuarray-cuda.sif" in export(cuda, "apptainer").usage
    content = json.loads(files("devcontainer", cuda)[".devcontainer/devcontainer.json"])
    assert content["runArgs"] == ["--gpus", "all"]
    assert content["hostRequirements"] == {"gpu": True}
    service: Any = yaml.safe_load(files("compose", cuda)["compose.yaml"])["services"]["theano"]
    [device] = service["deploy"]["resources"]["reservations"]["devices"]
    assert device == {"driver": "nvidia", "count": "all", "capabilities": ["gpu"]}


def test_modulefile_sets_what_activation_sets() -> None:
    """Quoted as Tcl reads it."""
    mkl = replace(MKL, environment=Path("/a b/$x [id] {\"'`"))
    [(name, text)] = files("modulefile", mkl).items()
    place = "/a b/\\$x \\[id\\] \\{\\\"'`"
    first, about, family, *lines = text.splitlines()
    assert (name, first) == ("theano-1.0.5-mkl", "#%Module1.0")
    assert family.endswith(" {family theano_stacks}")
    assert about.startswith(
        'module-whatis "it\'s \\"quoted\\" \\$HOME `id` \\$(id) \\[exit\\] : # '
    )
    unset = [f"unsetenv {name}" for name in surroundings.OTHER_PYTHON]
    setting = [f'setenv CONDA_PREFIX "{place}"', 'setenv PYTHONNOUSERSITE "1"']
    assert lines == [f'prepend-path PATH "{place}/bin"', *unset, *setting]
    [text] = files("modulefile", STACK).values()
    word = f'"{PLACE}/\\$x \\"b\\""'
    line = f"if {{![info exists env(A)] || $env(A) eq {word}}} {{setenv A {word}}}"
    assert text.splitlines()[-1] == line


def test_kernelspec_starts_the_environments_kernel() -> None:
    content = json.loads(files("kernelspec")["kernel.json"])
    started = [f"{PLACE}/bin/python", f"{PLACE}.kernel/start.py"]
    assert content["argv"] == [*started, "-f", "{connection_file}"]
    assert content["display_name"] == "mkl on theano-1.0.5"
    assert content["env"].items() >= {"CONDA_PREFIX": PLACE, "PYTHONHOME": ""}.items()
    pin = replace(subject("pip-default").lock.requirements[0], name="ipykernel")
    locked = replace(MKL, lock=replace(MKL.lock, framework_files=(pin,)))
    content = json.loads(files("kernelspec", locked)["kernel.json"])
    assert content["argv"][:3] == [f"{PLACE}/bin/python", "-m", "ipykernel_launcher"]


@pytest.mark.parametrize(
    ("form", "name", "found", "other"),
    [
        ("conda-lock", "pip-openblas", "pip installs numpy, scipy, six, theano, an", "environment"),
        ("pixi", "pip-default", "pip installs numpy, scipy, six, theano, and a", "environment"),
        ("pylock", "pip-default@0.8.2", "no installer of Python 2.7 reads it", "requirements"),
        # It would give the slow path.
        ("requirements", "pip-openblas", "blas-threads, libopenblas: conda", "environment"),
    ],
)
def test_a_form_that_a_variant_cannot_have(form: str, name: str, found: str, other: str) -> None:
    flavour, _, version = name.partition("@")
    with pytest.raises(UsageError, match=f"{flavour} is not available as {form}") as caught:
        export(subject(flavour, f"theano-{version or '1.0.5'}"), form)
    assert str(caught.value.found).startswith(found)
    assert caught.value.fix == f"--as {other} has all of it"


@pytest.mark.parametrize("value", ['"', "$x", "\\", "`id`"])
def test_a_variable_that_apptainer_would_change(value: str) -> None:
    kept, changed = (replace(MKL.image, environment={"A": v}) for v in ("a 'b' {c}% #", value))
    assert files("apptainer", replace(MKL, image=kept))
    with pytest.raises(UsageError, match=r"A: Apptainer changes .*\n.*--as compose has all of it"):
        files("apptainer", replace(MKL, image=changed))


def test_another_channel_is_not_served_here_and_has_no_images() -> None:
    other = replace(MKL, variant=on_other_channel(MKL.variant, "forge"))
    assert other.name == "theano-1.0.5-mkl-forge"
    for form in ("compose", "devcontainer", "apptainer"):
        with pytest.raises(UsageError, match=rf"mkl@forge is not available as {form}\n.*`@`"):
            export(other, form)
    forge = replace(MKL, lock=replace(MKL.lock, channel="https://example.org/forge"))
    assert forge.by_conda("conda") == "conda"
    stack = MKL.variant.model_copy(update={"file": Path("/my code/stack.yaml")})
    serving = "./invoke serve --variant '/my code'\n"
    assert replace(MKL, variant=stack).by_conda("conda").startswith(serving)


def test_a_subject_is_of_the_current_lock(workspace: Workspace) -> None:
    found, expected = subject_of(workspace, load_variant(workspace, "mkl")), MKL
    assert (found.lock, found.folder) == (expected.lock, expected.folder)
    assert found.homepage == "https://github.com/Theano/Theano"
    assert found.environment == workspace.environments / "theano-1.0.5/mkl"


def test_a_form_is_written_to_a_file_or_a_folder_and_replaces_no_other(tmp_path: Path) -> None:
    made = Export({"a.txt": "é\n"}, "")
    assert write(made, tmp_path) == tmp_path / "a.txt"
    assert write(made, tmp_path / "new/b") == tmp_path / "new/b"
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "new/b").read_bytes() == "é\n".encode()
    before = (tmp_path / "a.txt").stat()
    write(made, tmp_path / "a.txt")
    assert (tmp_path / "a.txt").stat() == before, "the same bytes stay"
    two = Export({"c.txt": "new\n", "b.txt": "new\n"}, "")
    other = tmp_path / "b.txt"
    for make in (lambda: other.write_text("mine\n"), lambda: other.symlink_to("missing")):
        make()
        with pytest.raises(UsageError, match=r"b\.txt is there already and differs\n  fix: "):
            write(two, tmp_path)
        assert not (tmp_path / "c.txt").exists(), "nothing is written"
        other.unlink()


def test_the_command_prints_a_form_or_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(os, "getgid", lambda: 1001)
    use.export.body(None, variant="openblas", as_="compose")
    out, err = capsys.readouterr()
    assert out.startswith("# OpenBLAS for BLAS")
    assert "    image: theano-openblas:1.0.5\n    user: ${RUN_AS:-1000:1001}\n" in out
    assert err.startswith("next: ./invoke build --variant openblas ")
    path = tmp_path / "a b.yaml"
    use.export.body(None, variant="openblas", as_="compose", to=str(path))
    out, err = capsys.readouterr()
    assert out == f"written: {path}\n" and f"docker compose -f '{path}' run --rm theano" in err
    use.export.body(None, variant="openblas", as_="modulefile", to=str(tmp_path / "fast"))
    assert capsys.readouterr().err.endswith(f" && module use {tmp_path} && module load fast\n")
