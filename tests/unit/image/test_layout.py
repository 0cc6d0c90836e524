"""An image's layers, the same everywhere; its names, its bill, what its Dockerfile builds with."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from string import Template

import pytest
from integration.programs import called

from stacks.channel.candidates import Channel
from stacks.core.disk import REPOSITORY, fixed_umask
from stacks.core.errors import IntegrityError
from stacks.core.reproducible import EPOCH
from stacks.core.workspace import Workspace
from stacks.image import base, builder, engine, layout, metadata
from stacks.image.metadata import ENTRY, config_of
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.sources.pins import IndexPin, Pins, cached_path
from stacks.variants.load import all_variants, load_variant
from stacks.variants.variant import Variant
from unit.helpers.archives import deb, member
from unit.helpers.serving import deb as pinned_deb

LOCK = Lock(())
WHEEL = IndexPin(
    name="Some_Thing", version="2", filename="some_thing-2.whl", size=1, sha256="a" * 64
)


def test_key_and_image_have_the_same_files_of_the_suite(
    own_workspace: Workspace, variant: Variant, tmp_path: Path
) -> None:
    copy = own_workspace
    copy.suite.unlink()
    shutil.copytree(REPOSITORY / "verify", copy.suite)
    before = layout.key_of(copy, variant, LOCK)
    other = variant.model_copy(update={"summary": "another"})
    assert layout.key_of(copy, other, LOCK) != before, "it is in the image's help"
    for name in ("ruff.toml", "workloads/__pycache__/lstm.pyc", ".cache/x.py"):
        (copy.suite / name).parent.mkdir(exist_ok=True)
        (copy.suite / name).write_text("changed")
        assert layout.key_of(copy, variant, LOCK) == before, name
    # Modes of the checkout do not count.
    (copy.suite / "cli.py").chmod(0o444)
    (copy.suite / "suite.py").chmod(0o755)
    with fixed_umask():
        layout._add_programs(tmp_path / "root", variant, config_of(copy, variant), copy.suite)
    copied = tmp_path / "root" / layout.SHARE[1:] / "verify"
    names = [path.relative_to(copied) for path in copied.rglob("*") if path.is_file()]
    assert sorted(names) == layout._files(copy.suite)
    assert {path.stat().st_mode & 0o777 for path in copied.rglob("*.py")} == {0o644}
    (copy.suite / "cli.py").chmod(0o644)
    for name in ("cli.py", "workloads/networks.py", "blas/peak.c"):
        assert Path(name) in names
        before = layout.key_of(copy, variant, LOCK)
        with (copy.suite / name).open("a") as file:
            file.write("\n")
        assert layout.key_of(copy, variant, LOCK) != before, name


SUMMARY = """Alice's "model" for $5 `id` $(id) \\n %s {module} END ü"""


@pytest.mark.parametrize("command", [["sh", ENTRY, "help"], ["bash", f"{layout.SHARE}/bashrc"]])
def test_an_image_shows_its_summary_as_it_is_written(
    workspace: Workspace, variant: Variant, tmp_path: Path, command: list[str]
) -> None:
    variant = variant.model_copy(update={"summary": SUMMARY})
    config = config_of(workspace, variant)
    layout._add_programs(tmp_path, variant, config, workspace.suite)
    program, path, *arguments = command
    done = called([program, f"{tmp_path}{path}", *arguments])
    assert (done.returncode, done.stderr) == (0, "")
    heading, *lines = done.stdout.splitlines()
    assert heading == f"theano-openblas: {SUMMARY}, on {variant.framework.summary}"
    assert "{" not in "".join(lines)


@pytest.mark.parametrize(
    ("variant", "framework", "names"),
    [
        ("mkl", "theano-1.0.5", ("theano-mkl:1.0.5", "theano-mkl:latest")),
        ("mkl", "theano-0.8.2", ("theano-mkl:0.8.2",)),
        ("openblas", "pytensor-3.3.7", ("pytensor-openblas:3.3.7",)),
        ("openblas", "theano-pymc-1.1.2", ("theano-pymc-openblas:1.1.2",)),
    ],
)
def test_an_image_is_named_after_framework_and_flavour(
    workspace: Workspace, variant: str, framework: str, names: tuple[str, ...]
) -> None:
    config = config_of(workspace, load_variant(workspace, variant, framework))
    assert config.names == names
    found = {name.rpartition(".")[2]: text for name, text in config.labels.items()}
    assert f"{found['title']}:{found['version']}" == names[0]
    assert found["name"] == base.name(workspace)
    assert re.fullmatch(r"theano-stacks-base:[0-9a-f]{12}", found["name"])


def test_the_image_of_a_stack_lies_beside_it_and_has_a_name_that_no_flavour_has(
    workspace: Workspace, tmp_path: Path
) -> None:
    (tmp_path / "openblas").mkdir()
    file = tmp_path / "openblas/stack.yaml"
    file.write_text("summary: mine\nextends: openblas\nframework: theano-0.8.2\n")
    variant = load_variant(workspace, str(file))
    names = config_of(workspace, variant).names
    assert names == ("stack-openblas:0.8.2", "stack-openblas:latest")
    folder = tmp_path / "openblas/stack.build"
    assert layout.layout_folder(workspace, variant) == folder / "image"
    assert layout.path_beside(workspace, variant, "docker.txt") == folder / "image.docker.txt"
    assert engine.report_path(workspace, variant) == folder / "image.report.json"


def test_each_component_has_a_package_url_a_hash_and_a_licence(
    workspace: Workspace, tmp_path: Path
) -> None:
    described = tmp_path / "some_thing-2.dist-info/METADATA"
    described.parent.mkdir()
    described.write_text(
        "Metadata-Version: 2.1\nName: some-thing\nVersion: 2\n"
        "Classifier: License :: OSI Approved :: MIT License\n"
    )
    config = config_of(workspace, load_variant(workspace, "pip-default", "theano-1.0.5"))
    locked = Lock((), (WHEEL,))
    texts = {
        metadata.render(
            config,
            "key",
            (),
            locked,
            Channel({}, Pins()),
            {pinned_deb(): ("GPL-2+", "MIT")},
            tmp_path,
        )
        for _ in range(2)
    }
    [text] = texts
    content = json.loads(text)
    found = {component["purl"]: component for component in content["components"]}
    debian = "pkg:deb/debian/foo@1.0?arch=amd64&distro=debian-11"
    wheel = "pkg:pypi/some-thing@2?file_name=some_thing-2.whl"
    assert sorted(found) == [debian, wheel]
    assert [one["license"]["name"] for one in found[debian]["licenses"]] == ["GPL-2+", "MIT"]
    assert found[wheel]["licenses"] == [{"license": {"name": "MIT License"}}]
    assert found[wheel]["hashes"] == [{"alg": "SHA-256", "content": "a" * 64}]
    assert content["metadata"]["component"]["name"] == config.repository


def test_another_program_than_the_dockerfiles_name_is_refused(tmp_path: Path) -> None:
    folder = (member("./bin", tarfile.DIRTYPE, mode=0o755), b"")
    package = deb(tmp_path / "x_1_amd64.deb", folder, (member("./bin/busybox"), b"#!/bin/sh\n"))
    digest = hashlib.sha256(b"#!/bin/sh\n").hexdigest()
    with pytest.raises(IntegrityError, match=r"x_1_amd64\.deb has another busybox") as caught:
        builder.write_static(package, "0" * 64, tmp_path / "busybox")
    assert (caught.value.expected, caught.value.found) == ("sha256 " + "0" * 64, f"sha256 {digest}")
    builder.write_static(package, digest, tmp_path / "busybox")
    assert (tmp_path / "busybox").stat().st_mode & 0o777 == 0o755


def test_the_code_has_one_mode_whatever_the_checkouts_is(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name, mode in (("a.py", 0o444), ("b.py", 0o755), ("c.py", 0o600), ("d.pyc", 0o644)):
        (source / name).touch(mode)
    with fixed_umask():
        builder.copy_without_modes(source, target)
    found = {path.name: path.stat().st_mode & 0o777 for path in target.iterdir()}
    assert found == dict.fromkeys(["a.py", "b.py", "c.py"], 0o644)


def test_the_first_difference_between_two_images_is_named(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        (folder / "lib").mkdir(parents=True)
        for name in ("lib/a", "lib/b", layout.RECORD):
            (folder / name).write_text("same" if name == "lib/a" else f"it is {folder.name}")
            os.utime(folder / name, (0, 0))
        (folder / "lib/c").symlink_to(folder.name)
        for name in ("lib/c", "lib"):
            os.utime(folder / name, (0, 0), follow_symlinks=False)
    assert re.fullmatch("lib/b: SHA-256 [0-9a-f]+ and SHA-256 .+", builder.difference(one, other))
    (other / "lib/b").write_text("it is one")
    assert builder.difference(one, other).startswith("lib/b: time 0.0 and time ")
    os.utime(other / "lib/b", (0, 0))
    assert builder.difference(one, other) == "lib/c: link to one and link to other"
    (other / "lib/a").chmod(0o700)
    assert builder.difference(one, other) == "lib/a: mode 100644 and mode 100700"
    (one / "lib/a").unlink()
    os.utime(one / "lib", (0, 0))
    assert builder.difference(one, other) == "lib/a: missing and mode 100700"
    assert builder.difference(one, one) == ""


@pytest.fixture
def text(workspace: Workspace) -> str:
    return (workspace.root / "docker/Dockerfile").read_text()


def test_a_build_from_a_web_server_runs_no_program_that_the_server_chose(
    workspace: Workspace, text: str
) -> None:
    [added] = re.findall(r"ADD (.*) \\\n    \$\{CHANNEL\}/image/busybox /image/\n", text)
    digest = base.read_file(workspace).sha256
    assert added == f"--checksum=sha256:{digest} --chmod=755"
    assert f"touch -h -d @{EPOCH} " in text


def test_an_image_starts_as_that_of_the_archive_does(workspace: Workspace, text: str) -> None:
    pairs = dict(re.findall(r' ([\w.]+)="(.*)"', text))
    for variant in all_variants(workspace):
        config = config_of(workspace, variant)
        project, _, version = variant.framework.name.rpartition("-")
        words = {"PROJECT": project, "VERSION": version, "VARIANT": variant.name}
        found = {name: Template(value).substitute(words) for name, value in pairs.items()}
        assert found.items() >= config.environment.items()
        title, release = (f"org.opencontainers.image.{key}" for key in ("title", "version"))
        for label in (title, release, "org.opencontainers.image.created"):
            assert found[label] == config.labels[label]
    assert f"\nUSER {config.user}\nWORKDIR {config.workdir}\n" in text
    assert f'\nENTRYPOINT ["{config.entrypoint[0]}"]\nCMD []\n' in text


@pytest.mark.parametrize("flavour", ["openblas", "pip-openblas"])
def test_each_file_of_the_lock_is_compared_with_its_digest(
    workspace: Workspace, text: str, flavour: str, tmp_path: Path
) -> None:
    [script] = re.findall(r'<<"END" /collect\n(.*?)^END\n', text, re.DOTALL | re.MULTILINE)
    locked = lock.read(workspace, load_variant(workspace, flavour, "theano-1.0.5"))
    (tmp_path / "lock").symlink_to(workspace.locks / "theano-1.0.5" / flavour)
    listing = script[: script.index("mkdir -p")].replace("/lock/", "lock/")
    subprocess.run(["sh", "-c", listing.replace(">/files", ">files")], cwd=tmp_path, check=True)
    expected = [
        f"{package.sha256}  channel/{'/'.join(package.url.rsplit('/', 2)[1:])}"
        for package in locked.packages
    ] + [f"{pin.sha256}  {cached_path(Path(), pin)}" for pin in locked.requirements]
    assert sorted((tmp_path / "files").read_text().splitlines()) == sorted(expected)
    assert "sha256sum --check --quiet /files" in script


@pytest.mark.parametrize(
    ("variant", "status", "built"),
    [
        *(("mkl", 0, True), ("mkl", 1, False), ("mkl", 3, False)),
        *(("gpuarray-cuda", 3, True), ("gpuarray-cuda", 1, False)),
    ],
)
def test_an_image_is_verified_by_its_last_step_and_only_cuda_may_lack_its_device(
    text: str, variant: str, status: int, built: bool
) -> None:
    last = text.rstrip().rpartition("RUN ")[2]
    assert last.startswith("--network=none --mount=type=tmpfs,target=/tmp \\\n")
    command = last.partition("\n")[2].replace("theano-stacks verify", f"(exit {status})")
    done = subprocess.run(["sh", "-c", command], env={"VARIANT": variant}, check=False)
    assert (done.returncode == 0) is built
