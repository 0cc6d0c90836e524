"""A variant's image in a container engine: loaded from its archive, verified, then named."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path

from stacks.core import jsonfile
from stacks.core.console import step
from stacks.core.disk import hold_lock, replace_atomically, scratch, write_atomically
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.environments.programs import FAILED, NO_DEVICE, PASSED, check_report, raise_for
from stacks.image import base, layout, oci
from stacks.image import engine as engines
from stacks.image.engine import Engine, EngineError
from stacks.image.layout import Layers
from stacks.image.metadata import ImageConfig, config_of
from stacks.variants.variant import Variant


def build(
    workspace: Workspace,
    variant: Variant,
    *,
    base_name: str = "",
    full: bool = False,
    json_file: Path | None = None,
) -> str:
    """Build a variant's image from its lock, verify it, name it, and return its name.

    base_name: an image that replaces the locked base. An image that is ready is verified again only
    for a `full` run or for the report. A failure leaves no image and no name changed.

    Raises StacksError if there is no engine, it refuses, content is not as locked, or a check
    fails; also if the image is built, but its device is missing.
    """
    config = config_of(workspace, variant, base_name or None)
    lock = layout.path_beside(workspace, variant, "docker")
    with closing(engines.find()) as engine, hold_lock(lock, f"the image {config.names[0]}"):
        layers = layout.lay_out(workspace, variant)
        lowest = _pulled(engine, base_name) if base_name else base.key(workspace)
        record = layout.path_beside(workspace, variant, "docker.json")
        # Everything that decides the image.
        inputs = [asdict(config), lowest, layers.key, layers.digests]
        key = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()
        if ready := _ready_image(engine, config, key, record):
            print(f"  {'ready':<9}{' '.join(config.names)}", file=sys.stderr, flush=True)
            if full or json_file:
                status = verify(workspace, engine, ready, variant, full=full, json_file=json_file)
                _require_device(status, variant)
            return config.names[0]
        # One name for each checkout: the next build removes it where this one was killed.
        mark = hashlib.sha256(str(lock.resolve()).encode()).hexdigest()[:12]
        unverified = f"{config.repository}:unverified-{mark}"
        with _loaded(workspace, engine, variant, layers, base_name, unverified) as image:
            status = verify(workspace, engine, image, variant, full=full, json_file=json_file)
            engine.tag(image, config.names)
        _require_device(status, variant)
        write_atomically(record, json.dumps({"key": key, "image": image}) + "\n")
    print(f"  {'image':<9}{' '.join(config.names)} {image}", file=sys.stderr, flush=True)
    return config.names[0]


def _pulled(engine: Engine, name: str) -> str:
    """Return the id of an image that replaces the base, pulled if the engine does not have it."""
    image = engine.image_id(name)
    if image:
        return image
    with step("base", f"pulling {name}"):
        try:
            engine.pull(name)
        except EngineError as error:
            raise EngineError(
                f"the base image {name} cannot be pulled:\n{error.what}",
                found=error.found,
                fix="check its name, the registry and your login; or leave out --base: the "
                "project's own base needs no registry",
            ) from error
    return str(engine.image_id(name))


def _ready_image(engine: Engine, config: ImageConfig, key: str, record: Path) -> str | None:
    """Return the image that was verified under this key, if all its names still refer to it."""
    try:
        content = jsonfile.read(record)
        image = str(content["image"]) if content["key"] == key else ""
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return image if image and all(engine.image_id(n) == image for n in config.names) else None


@contextmanager
def _loaded(
    workspace: Workspace,
    engine: Engine,
    variant: Variant,
    layers: Layers,
    base_name: str,
    name: str,
) -> Iterator[str]:
    """Load the image under a name of its own, which it loses in the end; give its id.

    An image without another name goes with it. Raises IntegrityError unless the engine has the
    image of the archive, which its id, a digest of all its content, says.
    """
    engine.remove_name(name)
    try:
        with scratch() as folder:
            below = oci.locked(workspace) if not base_name else None
            if below is None:
                with step("base", f"layers of {base_name}"):
                    engine.save(base_name, folder / "base.tar")
                    below = of_saved(base_name, folder / "base.tar", folder / "base")
            archive = folder / "image.tar"
            digests = oci.pack(workspace, variant, layers, archive, below, [name])
            with step("load", f"{engine.kind} {engine.version}"):
                engine.load(archive)
        image = engine.image_id(name)
        if image not in (digests.config, digests.manifest):
            raise IntegrityError(
                "the engine has another image than it was given",
                expected=digests.config,
                found=image or "none",
                fix="run the command again; if it fails again, check the engine's storage",
            )
        yield image
    finally:
        engine.remove_name(name)


def of_saved(name: str, archive: Path, folder: Path) -> oci.Lower:
    """Unpack what `docker save` wrote for an image into the new folder `folder`.

    Raises IntegrityError if the archive is not one of an image for Linux on x86-64.
    """
    folder.mkdir()
    try:
        with tarfile.open(archive) as tar:
            (description,) = json.loads(_content(tar, "manifest.json"))
            settings = json.loads(_content(tar, description["Config"]))
            layers = []
            for number, member in enumerate(description["Layers"]):
                file = tar.extractfile(member)
                assert file, member
                layers.append(folder / str(number))
                with layers[-1].open("wb") as out:
                    shutil.copyfileobj(file, out, 1 << 20)
    except (tarfile.TarError, KeyError, ValueError, TypeError) as error:
        raise IntegrityError(
            "the engine's archive of the base image cannot be read", found=repr(error)
        ) from error
    platform = f"{settings.get('os')}/{settings.get('architecture')}"
    if platform != "linux/amd64":
        raise IntegrityError(
            "the base image is for another machine",
            expected="linux/amd64",
            found=platform,
            fix="docker pull --platform linux/amd64 IMAGE, or choose another base",
        )
    return oci.Lower(name, settings=settings, layers=tuple(layers))


def _content(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    assert file, name
    return file.read()


def verify(
    workspace: Workspace,
    engine: Engine,
    image: str,
    variant: Variant,
    *,
    full: bool,
    json_file: Path | None,
) -> int:
    """Run the verification suite in the image, print its table, and store its report.

    Returns PASSED, or NO_DEVICE if the image's device is missing. Raises VerifyError if a check
    failed or the suite could not run.
    """
    command = ["verify", "--json", *(["--full"] if full else [])]
    with (
        engine.container(image, command) as container,
        replace_atomically(report_path(workspace, variant)) as report,
    ):
        with report.open("wb") as file:
            status = container.run(file)
        what = f"the image of {variant.id} could not be verified"
        if status not in (PASSED, FAILED, NO_DEVICE):
            raise_for(status, f"{what} (status {status})")
        fix = "see the message above; without one, the image's entry program is not the suite's"
        check_report(status, report, what, fix)
    if json_file:
        write_atomically(json_file, report_path(workspace, variant).read_bytes())
    if status == FAILED:
        raise_for(status, f"the image of {variant.id} failed its verification")
    return status


def _require_device(status: int, variant: Variant) -> None:
    if status == NO_DEVICE:
        raise_for(status, f"the image of {variant.id} is built, and verified except for its device")


def report_path(workspace: Workspace, variant: Variant) -> Path:
    """Return the path of the last report of a variant's image."""
    if variant.file:
        return layout.path_beside(workspace, variant, "report.json")
    return workspace.reports / "images" / variant.framework.name / f"{variant.name}.json"
