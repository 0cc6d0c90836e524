"""A variant's image in a container engine: built without a network, verified, then named."""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from stacks.core.console import step
from stacks.core.disk import hold_lock, replace_atomically, scratch, write_atomically
from stacks.core.workspace import Workspace
from stacks.environments.verify import FAILED, NO_DEVICE, PASSED, check_report, raise_for
from stacks.image import base, dockerfile, layout, manifest, normalised
from stacks.image import engine as engines
from stacks.image import entries as image_entries
from stacks.image.build_log import BuildLog
from stacks.image.config import ImageConfig, config_of
from stacks.image.engine import Engine, EngineError
from stacks.image.entries import Entry
from stacks.image.layout import Layer
from stacks.variants.variant import Variant

# Without privileges, as everybody should run an image.
CONFINED = (
    "--network=none", "--read-only", "--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777",
    "--cap-drop=ALL", "--security-opt=no-new-privileges",
)  # fmt: skip
# An interrupted engine finishes its step. How often to look for the image of that step, and for
# BuildKit's image, which exists only in the end; seconds between two looks.
SWEEPS, LAST_SWEEPS, PAUSE = 20, 4, 0.5


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
    engine = engines.find()
    config = config_of(workspace, variant, base_name or None)
    lock = layout.path_beside(workspace, variant, "docker")
    with hold_lock(lock, f"the image {config.names[0]}"):
        layers = layout.lay_out(workspace, variant)
        lowest = prepare_base(workspace, engine, base_name)
        # The name of the locked base changes with its content, that of another one need not.
        base_id = engine.image_id(lowest) if base_name else None
        key = _key(workspace, variant, lowest, base_id, layers)
        ready = _ready_image(workspace, engine, config, key, variant)
        if ready:
            print(f"  {'ready':<9}{' '.join(config.names)}", file=sys.stderr, flush=True)
            if full or json_file:
                status = verify(workspace, engine, ready, variant, full=full, json_file=json_file)
                _require_device(status, variant)
            return config.names[0]
        context = layout.path_beside(workspace, variant, "context")
        with _context(context, layers) as (folder, entries):
            image = _build(workspace, engine, variant, lowest, folder)
        with _discarded_on_failure(engine, image):
            with step("check", "every file of the image"):
                check(engine, image, entries, config.names[0])
            status = verify(workspace, engine, image, variant, full=full, json_file=json_file)
            _name(engine, image, config.names)
        _require_device(status, variant)
        write_atomically(
            _record(workspace, variant), json.dumps({"key": key, "image": image}) + "\n"
        )
    print(f"  {'image':<9}{' '.join(config.names)} {image}", file=sys.stderr, flush=True)
    return config.names[0]


def prepare_base(workspace: Workspace, engine: Engine, chosen: str = "") -> str:
    """Return the name of a base that the engine has: the chosen one, else the locked one.

    A missing locked base is made and imported, a missing chosen one is pulled.
    """
    name = chosen or base.name(workspace)
    if engine.image_id(name):
        return name
    if chosen:
        with step("base", f"pulling {chosen}"):
            _pull(engine, chosen)
    else:
        with step("base", name):
            engine.call("import", "--change", 'CMD ["/bin/bash"]', base.tar(workspace), name)
    return name


def _pull(engine: Engine, name: str) -> None:
    try:
        engine.call("pull", "--quiet", name)
    except EngineError as error:
        raise EngineError(
            f"the base image {name} cannot be pulled:\n{error.what}",
            found=error.found,
            fix="check its name, the registry and your login; or leave out --base: the project's "
            "own base needs no registry",
        ) from error


def _key(
    workspace: Workspace,
    variant: Variant,
    base_name: str,
    base_id: str | None,
    layers: Sequence[Layer],
) -> str:
    """Return the hash of everything that decides an image."""
    parts = [dockerfile.text_of(workspace, variant), base_name, base_id, layout.key_in(layers)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _record(workspace: Workspace, variant: Variant) -> Path:
    return layout.path_beside(workspace, variant, "docker.json")


def _ready_image(
    workspace: Workspace, engine: Engine, config: ImageConfig, key: str, variant: Variant
) -> str | None:
    """Return the image that was verified under this key, if all its names still refer to it."""
    record = layout.read_record(_record(workspace, variant))
    if record.get("key") != key:
        return None
    image = str(record["image"])
    return image if all(engine.image_id(name) == image for name in config.names) else None


@contextmanager
def _context(target: Path, layers: Sequence[Layer]) -> Iterator[tuple[Path, dict[str, Entry]]]:
    """Make the folder for the builder; give it and the entries that the image must have."""
    entries: dict[str, Entry] = {}
    try:
        with (
            step("archives", ", ".join(layer.name for layer in layers)),
            replace_atomically(target) as folder,
        ):
            folder.mkdir()
            for layer in layers:
                with (folder / f"{layer.name}.tar").open("wb+") as file:
                    normalised.write(layer.folder, file)
                    file.seek(0)
                    entries.update(image_entries.read_entries(file))
            digests = {n: e.content for n, e in entries.items() if e.kind != "folder"}
            manifest.check(layers[0].folder.parent, digests)
        yield target, entries
    finally:
        shutil.rmtree(target, ignore_errors=True)


def _build(
    workspace: Workspace, engine: Engine, variant: Variant, base_name: str, context: Path
) -> str:
    """Build the Dockerfile and return the image's id; it has no name yet."""
    log = BuildLog()
    title = config_of(workspace, variant).title
    known = engine.unnamed_with_title(title)
    with scratch() as folder:
        file, id_file = folder / "Dockerfile", folder / "image"
        file.write_text(dockerfile.text_of(workspace, variant), encoding="utf-8")
        options: list[str | Path] = ["--network=none", f"--build-arg=BASE={base_name}"]
        options += ["--force-rm", "--iidfile", id_file, "--file", file]
        try:
            with step("build", f"{engine.kind} {engine.version}"):
                engine.follow(["build", *options, context], log.add)
        except EngineError:
            engine.discard(reversed(log.new))
            raise
        except BaseException:
            # The engine finishes its step after the program that requested it has ended.
            following: list[str] = []
            if not log.images:
                # BuildKit makes one image, in the end.
                following = _poll(lambda: engine.unnamed_with_title(title) - known, LAST_SWEEPS)
            elif log.in_step:
                following = _poll(lambda: engine.unnamed_made_from(log.images[-1]), SWEEPS)
            engine.discard([*following, *reversed(log.new)])
            raise
        return id_file.read_text().strip()


def _poll(images: Callable[[], Iterable[str]], sweeps: int) -> list[str]:
    """Return the first images that appear, none if that takes too long."""
    for _ in range(sweeps):
        if appeared := sorted(images()):
            return appeared
        time.sleep(PAUSE)
    return []


@contextmanager
def _discarded_on_failure(engine: Engine, image: str) -> Iterator[None]:
    try:
        yield
    except BaseException:
        engine.discard([image])
        raise


@contextmanager
def _container(engine: Engine) -> Iterator[str]:
    """Give a container's name; the container is removed in the end, running or not."""
    name = f"theano-stacks-{secrets.token_hex(6)}"
    try:
        yield name
    finally:
        engine.remove_container(name)


def check(engine: Engine, image: str, entries: dict[str, Entry], name: str) -> None:
    """Raise IntegrityError unless the image has every file of the layers, unchanged."""
    with _container(engine) as container:
        engine.call("create", "--name", container, "--network=none", image)
        with engine.pipe("export", container) as stream:
            image_entries.check_entries(entries, image_entries.read_entries(stream), name)


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
    sys.stdout.flush()
    with (
        _container(engine) as container,
        replace_atomically(report_path(workspace, variant)) as report,
    ):
        options = ["--name", container, *CONFINED, image, *command]
        with report.open("wb") as file:
            status = engine.attach("run", *options, output=file)
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


def _name(engine: Engine, image: str, names: Sequence[str]) -> None:
    """Give an image its names, all of them or none."""
    before = {name: engine.image_id(name) for name in names}
    try:
        for name in names:
            engine.call("tag", image, name)
    except BaseException:
        for name, old in before.items():
            if old:
                engine.call("tag", old, name)
            elif engine.image_id(name):
                engine.call("image", "rm", name)
        raise
