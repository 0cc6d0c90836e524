"""The content of an image as folders, of which each becomes a layer over the base."""

import hashlib
import json
import os
import re
import shlex
import shutil
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path

from stacks.channel.candidates import read_channel, with_settings
from stacks.channel.settings_files import COMPILE_FOLDER, FOLDER, HOOK
from stacks.core import console, records
from stacks.core.disk import fixed_umask, hold_lock, replace_atomically, sha256_of
from stacks.core.workspace import Workspace
from stacks.environments.folders import key_of as environment_key
from stacks.environments.make import build as pipeline
from stacks.environments.make import packages, prefix, settings
from stacks.environments.make.contents import write_manifest
from stacks.environments.make.packages import PackageToInstall
from stacks.image import base, files, metadata
from stacks.image.files import CONTENT, PREFIX
from stacks.image.metadata import ENTRY, HOME, WORK, ImageConfig, config_of
from stacks.locks.lock import Lock
from stacks.variants import stack
from stacks.variants.variant import AMDLIBM, Variant

# Raised when an image gets other files than before from the same inputs: it is made again.
REVISION = 2
# Folders that the group root may write, so that any user in that group can.
# /data is where the guide mounts a volume: Docker makes an empty one like the folder.
WRITABLE = {str(HOME)[1:]: 0o775, str(WORK)[1:]: 0o775, "data": 0o1777}
RECORD = "ready.json"
NAMES = ("packages", "blas", "settings")
SHARE = f"{PREFIX}/share/theano-stacks"
SBOM = f"{SHARE}/sbom.cdx.json"
# The same for the layers on another base, as a Dockerfile may copy them.
SBOM_WITHOUT_BASE = f"{SHARE}/sbom-without-base.cdx.json"


@dataclass(frozen=True)
class Layers:
    """The layers of an image over its base: folders of `folder`.

    key: the hash of everything that decides them. digests: by name, lowest first, of their tar
    archives (`sha256:...`).
    """

    folder: Path
    key: str
    digests: Mapping[str, str]

    @property
    def folders(self) -> dict[str, Path]:
        """The folder of each layer by its name, lowest first."""
        return {name: self.folder / name for name in self.digests}


def record(folder: Path, key: str) -> Layers:
    """Write the record of the layers that were made in a folder, and return them."""
    folders = {name: folder / name for name in NAMES if (folder / name).is_dir()}
    layers = Layers(folder, key, {n: files.digest_of(path) for n, path in folders.items()})
    content = {"key": key, "digests": layers.digests}
    (folder / RECORD).write_text(json.dumps(content) + "\n")
    return layers


def read(folder: Path) -> Layers | None:
    """Return the layers in a folder, None if their record is missing or damaged."""
    try:
        record = records.read_json(folder / RECORD)
        return Layers(folder, record["key"], dict(record["digests"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def layout_folder(workspace: Workspace, variant: Variant) -> Path:
    """Return the folder of a variant's layers."""
    if variant.file:
        return stack.build_folder(variant.file) / "image"
    return workspace.images / variant.framework.name / variant.name


def path_beside(workspace: Workspace, variant: Variant, suffix: str) -> Path:
    """Return the path of something that is made of a variant's layers: a record, an archive."""
    folder = layout_folder(workspace, variant)
    return folder.with_name(f"{folder.name}.{suffix}")


def key_of(workspace: Workspace, variant: Variant, lock: Lock) -> str:
    """Return the hash of everything that decides an image's layers over its base.

    An edit of this program changes no key: what it writes differently has a higher REVISION.
    """
    names = [(folder, name) for folder in (CONTENT, workspace.suite) for name in _files(folder)]
    return _hash(
        REVISION,
        environment_key(workspace, variant, lock, Path(PREFIX)),
        asdict(config_of(workspace, variant)),
        [(str(name), sha256_of(folder / name)) for folder, name in names],
        base.key(workspace),
        [version(name) for name in ("cyclonedx-python-lib", "packageurl-python")],
    )


def _hash(*inputs: object) -> str:
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def lay_out(workspace: Workspace, variant: Variant, target: Path | None = None) -> Layers:
    """Return the layers over the base, made from the lock if they are not ready.

    target: another folder for them than the one below build/. Modes and times are normalised;
    what writes the image sets the owners (0:0).

    Raises a StacksError if the lock is stale, a source is unavailable or not as pinned, this
    machine cannot run the environment, or the disk refuses.
    """
    target = target or layout_folder(workspace, variant)
    lock = pipeline.read_lock(workspace, variant)
    if variant.file:
        stack.make_build_folder(variant.file)
    key = key_of(workspace, variant, lock)
    with hold_lock(target, f"the image of {variant.id}"):
        existing = read(target)
        if existing and existing.key == key:
            return existing
        files.check_machine()
        to_install = packages.packages_to_install(workspace, variant, lock)
        with (
            console.step("image", console.display_path(target)),
            replace_atomically(target) as made,
        ):
            _make(workspace, variant, lock, to_install, made, key)
            return replace(record(made, key), folder=target)


def _files(folder: Path) -> list[Path]:
    """Return the paths in a folder of the files that go into an image, at any depth."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    # Python 2.7 writes its bytecode beside the modules.
    own = (path for path in paths if path.suffix not in (".toml", ".pyc"))
    return sorted(p for p in own if not any(n.startswith((".", "__pycache__")) for n in p.parts))


def _make(
    workspace: Workspace,
    variant: Variant,
    lock: Lock,
    to_install: Sequence[PackageToInstall],
    made: Path,
    key: str,
) -> None:
    """Make the layers of an image in the folder `made`."""
    within = str(PREFIX)[1:]
    environment = made / "packages" / within
    environment.parent.mkdir(parents=True)
    with fixed_umask():
        prefix.fill(prefix.Making(workspace, variant, lock, to_install, Path(PREFIX)), environment)
        _expect_image(environment / settings.EXPECTATION, lock)
        _leave_out_tests(environment, variant.framework.python)
        files.warm(variant, environment)
        compiled = environment_key(workspace, variant, lock, Path(PREFIX))
        hook = sha256_of(CONTENT / "compiledir.py")
        files.add_hook(variant, environment, f"{variant.name}-{_hash(compiled, hook)[:12]}")
        files.to_bytecode(environment, variant.framework.python)
        _divide(
            environment, made / "settings" / within, made / "blas" / within, variant, to_install
        )
        config = config_of(workspace, variant)
        _add_programs(made / "settings", variant, config, workspace.suite)
        site_packages = environment / f"lib/python{variant.framework.python}/site-packages"
        channel = with_settings(read_channel(workspace), [variant])
        for path, debs in ((SBOM, base.licences(workspace)), (SBOM_WITHOUT_BASE, {})):
            document = metadata.render(config, key, to_install, lock, channel, debs, site_packages)
            (made / "settings" / path[1:]).write_text(document)
        folders = [made / name for name in NAMES if (made / name).is_dir()]
        for folder in folders:
            files.normalise(folder, WRITABLE)
        write_manifest(*(folder / within for folder in folders))
        files.normalise(folders[-1], WRITABLE)


def _expect_image(path: Path, lock: Lock) -> None:
    """Remove flags that depend on the user and the CPU from what verify expects; add the lock.

    Timings in the image name the lock; those outside have it from the checkout.
    """
    expected = json.loads(path.read_bytes())
    expected["lock"] = lock.sha256
    for flag in ("base_compiledir", *files.FLAGS):
        expected["flags"].pop(flag, None)
    path.write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


def _leave_out_tests(environment: Path, python: str) -> None:
    """Remove the test suites of NumPy and SciPy, 20 MB."""
    for name in ("numpy", "scipy"):
        package = environment / f"lib/python{python}/site-packages" / name
        for folder in [path for path in package.rglob("tests") if path.is_dir()]:
            shutil.rmtree(folder)


def _divide(
    environment: Path,
    settings: Path,
    blas: Path,
    variant: Variant,
    to_install: Sequence[PackageToInstall],
) -> None:
    """Move files of the environment to other layers.

    To `settings` what belongs to no package, too; to `blas` the packages that differ between a
    framework's variants.
    """
    python = variant.framework.python

    def list_files(packages: Container[str]) -> set[str]:
        chosen = [package for package in to_install if package.name in packages]
        names = {name for package in chosen for name in package.files(python)}
        names |= {f"conda-meta/{package.stem}.json" for package in chosen}
        return {name for name in names if os.path.lexists(environment / name)}

    names, folders = list_files({variant.settings_package}), (FOLDER, COMPILE_FOLDER)
    # With the bytecode of the hooks.
    for hook in (HOOK, files.HOOK):
        paths = (environment / f"lib/python{python}/site-packages").rglob(f"{hook}.*")
        names |= {str(path.relative_to(environment)) for path in paths}
    rest = (name for name in names if not name.startswith(tuple(f"{f}/" for f in folders)))
    _move(environment, settings, [*folders, *rest])
    packages = {"libblas", "blas-threads", AMDLIBM, *(s.split()[0] for s in variant.packages)}
    if variant.blas:
        packages.add(variant.blas.package.split()[0])
    _move(environment, blas, list_files(packages))


def _move(source: Path, target: Path, names: Iterable[str]) -> None:
    """Move files and folders by their paths, and remove folders that become empty."""
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).replace(target / name)
        for folder in (source / name).parents:
            if folder == source or any(folder.iterdir()):
                break
            folder.rmdir()


def _add_programs(root: Path, variant: Variant, config: ImageConfig, suite: Path) -> None:
    """Write the container's entry program and the verification suite, a copy of `suite`."""
    share = root / SHARE[1:]
    for name in _files(suite):
        (share / "verify" / name).parent.mkdir(parents=True, exist_ok=True)
        # Without its mode: that of a checkout depends on who made it.
        shutil.copyfile(suite / name, share / "verify" / name)
    words = {
        # The one text of a person, as a word of a shell; the others are names.
        "heading": shlex.quote(f"{config.repository}: {config.description}"),
        "name": config.repository if "latest" in config.tags else config.names[0],
        "variant": variant.name,
        "module": variant.framework.module,
    }
    for template, target in (
        ("theano-stacks", ENTRY),
        ("bashrc", f"{SHARE}/bashrc"),
        ("passwd", "/etc/passwd"),
    ):
        text = re.sub(r"\{(\w+)\}", lambda match: words[match[1]], (CONTENT / template).read_text())
        path = root / str(target)[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / str(ENTRY)[1:]).chmod(0o755)
    for folder in WRITABLE:
        (root / folder).mkdir(parents=True)
