"""The content of an image, laid out as folders: each becomes a layer over the base."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stacks.channel.offers import Channel
from stacks.core import console
from stacks.core.disk import REPOSITORY, aside, locked, same_modes, sha256_of
from stacks.core.workspace import Workspace
from stacks.environments import build as pipeline
from stacks.environments import prefix, settings
from stacks.environments.part import Part
from stacks.environments.verify import SUITE
from stacks.image import base, manifest, normalised, precompiled, sbom
from stacks.image.config import ENTRY, HOME, PREFIX, WORK, ImageConfig, config_of
from stacks.locks.lock import Lock
from stacks.variants.variant import AMDLIBM, Variant

CONTENT = REPOSITORY / "docker" / "content"
SHARE = f"{PREFIX}/share/theano-stacks"
SBOM = f"{SHARE}/sbom.cdx.json"
# The same for an image on another base than the locked one, of which nothing is known here.
SBOM_WITHOUT_BASE = f"{SHARE}/sbom-without-base.cdx.json"
# What decides the bytes of the layers.
MODULES = ("base.py", "compiled.py", "config.py", "contents.py", "sbom.py", "tree.py")
# Folders that the group root may write, and with it any user whom an engine gives that group.
WRITABLE = {str(HOME)[1:]: 0o775, str(WORK)[1:]: 0o775}


@dataclass(frozen=True)
class Layer:
    """A part of an image: all that lies in the folder is laid over the image's root."""

    name: str
    folder: Path


def place_of(workspace: Workspace, variant: Variant) -> Path:
    """Return where a variant's image is laid out."""
    return workspace.images / variant.framework.name / variant.name


def key_of(workspace: Workspace, variant: Variant, lock: Lock) -> str:
    """Return the hash of all that decides an image's layers over its base."""
    code = [Path(__file__).with_name(name) for name in MODULES]
    code += [*_files(CONTENT, "*"), *_files(SUITE, "*")]
    inputs = [
        prefix.key_of(workspace, variant, lock, Path(PREFIX)),
        [(path.name, sha256_of(path)) for path in code],
        base.key(workspace),
    ]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def lay_out(
    workspace: Workspace, variant: Variant, target: Path | None = None
) -> tuple[Layer, ...]:
    """Return the layers over the base, lowest first, made from the lock where they are not ready.

    `target` is the folder for them instead of their place below build/. Modes are normalised and
    every file and folder has the same time; owners are left to who makes the image (0:0).

    Raises a StacksError where the lock is stale, a source cannot be had, bytes are not the pinned
    ones, this machine cannot run the environment, or the disk refuses.
    """
    target = target or place_of(workspace, variant)
    channel, lock = pipeline.read_lock(workspace, variant)
    key = key_of(workspace, variant, lock)
    with locked(target, f"the image of {variant.id}"):
        if _ready(target) == key:
            return _layers(target)
        precompiled.check_machine()
        parts = pipeline.parts_of(workspace, variant, channel, lock)
        with console.step("image", console.display_path(target)), aside(target) as made:
            _make(workspace, variant, channel, lock, parts, made, key)
            manifest.write(made, [layer.folder for layer in _layers(made)])
            (made / "ready.json").write_text(json.dumps({"key": key}) + "\n")
    return _layers(target)


def key_in(layers: Sequence[Layer]) -> str:
    """Return the hash of all that decided layers which are ready."""
    return str(_ready(layers[-1].folder.parent))


def sbom_in(layers: Sequence[Layer], *, locked_base: bool = True) -> bytes:
    """Return the SBOM that layers which are ready have, with the locked base or without."""
    path = SBOM if locked_base else SBOM_WITHOUT_BASE
    return (layers[-1].folder / path[1:]).read_bytes()


def _ready(target: Path) -> str | None:
    try:
        return str(json.loads((target / "ready.json").read_bytes())["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _layers(target: Path) -> tuple[Layer, ...]:
    names = ("packages", "blas", "settings")
    return tuple(Layer(n, target / n) for n in names if (target / n).is_dir())


def _files(folder: Path, pattern: str) -> list[Path]:
    return sorted(p for p in folder.glob(pattern) if p.is_file() and p.suffix != ".pyc")


def _make(
    workspace: Workspace,
    variant: Variant,
    channel: Channel,
    lock: Lock,
    parts: Sequence[Part],
    made: Path,
    key: str,
) -> None:
    """Make the folders of an image's layers in the folder `made`."""
    within = str(PREFIX)[1:]
    environment = made / "packages" / within
    environment.parent.mkdir(parents=True)
    with same_modes():
        chosen = precompiled.for_image(variant)
        prefix.fill(workspace, chosen, lock, parts, environment, Path(PREFIX))
        _expect_no_folder(environment / settings.EXPECTATION)
        _leave_out_tests(environment, variant.framework.python)
        precompiled.warm(chosen, environment)
        precompiled.add_hook(variant, environment, f"{variant.name}-{key[:12]}")
        precompiled.to_bytecode(environment, variant.framework.python)
        own = [f"{within}/{name}" for name in _settings_of(variant, environment)]
        _move(made / "packages", made / "settings", own)
        blas = [f"{within}/{name}" for name in _blas_of(variant, parts, environment)]
        _move(made / "packages", made / "blas", blas)
        config = config_of(workspace, variant)
        _add_programs(made / "settings", variant, config)
        site_packages = environment / f"lib/python{variant.framework.python}/site-packages"
        for path, debs in ((SBOM, base.licences(workspace)), (SBOM_WITHOUT_BASE, {})):
            document = sbom.render(config, key, parts, lock, channel.pins, debs, site_packages)
            (made / "settings" / path[1:]).write_text(document)
        for layer in _layers(made):
            normalised.normalise(layer.folder, WRITABLE)


def _expect_no_folder(path: Path) -> None:
    """Take from what verify expects those flags that depend on the user and the CPU."""
    expected = json.loads(path.read_bytes())
    for flag in ("base_compiledir", "gcc.cxxflags"):
        del expected["flags"][flag]
    path.write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")


def _leave_out_tests(environment: Path, python: str) -> None:
    """Take out the test suites of NumPy and SciPy: 20 MB that nothing in a container imports."""
    for name in ("numpy", "scipy"):
        package = environment / f"lib/python{python}/site-packages" / name
        for folder in [path for path in package.rglob("tests") if path.is_dir()]:
            shutil.rmtree(folder)


def _settings_of(variant: Variant, environment: Path) -> Iterable[str]:
    """Return the paths in the environment that no package has brought."""
    site_packages = f"lib/python{variant.framework.python}/site-packages"
    hooks = [f"{site_packages}/theano-stacks.pth"]
    for name in (settings.HOOK, precompiled.HOOK):
        found = (environment / site_packages).rglob(f"{name}.*")
        hooks += [str(path.relative_to(environment)) for path in found]
    return [settings.RC_FILE, settings.FOLDER, settings.COMPILE_FOLDER, *sorted(hooks)]


def _blas_of(variant: Variant, parts: Sequence[Part], environment: Path) -> list[str]:
    """Return the files of the packages in which variants of a framework differ."""
    names = {"libblas", AMDLIBM, *(spec.split()[0] for spec in variant.packages)}
    if variant.blas:
        names.add(variant.blas.package.split()[0])
    found = []
    for part in parts:
        if part.name in names:
            record = part.stem
            found += [*part.files(variant.framework.python), f"conda-meta/{record}.json"]
    return [name for name in found if os.path.lexists(environment / name)]


def _move(source: Path, target: Path, names: Iterable[str]) -> None:
    """Move files and folders by their paths; the folders that this leaves empty go with them."""
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).replace(target / name)
        for folder in (source / name).parents:
            if folder == source or any(folder.iterdir()):
                break
            folder.rmdir()


def _add_programs(root: Path, variant: Variant, config: ImageConfig) -> None:
    """Write what a container starts with, the verification suite, and who may use it."""
    share = root / SHARE[1:]
    shutil.copytree(
        SUITE, share / "verify", ignore=shutil.ignore_patterns("__pycache__", ".*", "*.toml")
    )
    words = {
        "title": config.title,
        "description": config.description,
        "name": config.repository if "latest" in config.tags else config.names[0],
        "variant": variant.name,
        "module": variant.framework.module,
    }
    for name, place in (
        ("theano-stacks", ENTRY),
        ("bashrc", f"{SHARE}/bashrc"),
        ("passwd", "/etc/passwd"),
    ):
        text = (CONTENT / name).read_text()
        for word, value in words.items():
            text = text.replace(f"{{{word}}}", value)
        path = root / str(place)[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / str(ENTRY)[1:]).chmod(0o755)
    for folder in WRITABLE:
        (root / folder).mkdir(parents=True)
