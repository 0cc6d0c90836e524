"""A variant's image in a container engine: built without a network, verified, and then named."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from pathlib import Path

from stacks.core.console import step
from stacks.core.disk import aside, locked, scratch, write_whole
from stacks.core.workspace import Workspace
from stacks.environments.verify import FAILED, NO_DEVICE, PASSED, raise_for
from stacks.image import base, dockerfile, layout, manifest, normalised
from stacks.image import engine as engines
from stacks.image import entries as image_entries
from stacks.image.config import ImageConfig, config_of
from stacks.image.engine import Engine, EngineError
from stacks.image.entries import Entry
from stacks.image.layout import Layer
from stacks.variants.variant import Variant

# How builders announce a step: docker's older one and podman, and BuildKit.
STEP = re.compile(r"(?:step (\d+/\d+) ?: ?|#\d+ \[(\d+/\d+)\] )(.+)", re.IGNORECASE)
# How docker's older builder and podman name the image of a step, old or new.
IMAGE = re.compile(r" ?--+> ([0-9a-f]{11,})")
CACHED = re.compile(r" ?--+> using cache", re.IGNORECASE)
# What a program in an image can do without, as everybody should run it.
CONFINED = (
    "--network=none", "--read-only", "--tmpfs=/tmp:rw,exec,nosuid,nodev,mode=1777",
    "--cap-drop=ALL", "--security-opt=no-new-privileges",
)  # fmt: skip
# How often to look for the image of the step that an interrupted engine is still at, and for one
# that was all but finished.
SWEEPS, LAST_SWEEPS = 20, 4


def build(
    workspace: Workspace,
    variant: Variant,
    *,
    base_name: str = "",
    full: bool = False,
    json_file: Path | None = None,
) -> None:
    """Have the engine make a variant's image from its lock, verify it, and name it.

    `base_name` is an image that takes the place of the locked base. An image that is ready is
    verified again only for a `full` run or for the report. What fails leaves no image behind and
    every name as it was. Raises StacksError: no engine, a refusal of its, content that
    is not the locked one, a check that failed; the image being made, no device to verify it on.
    """
    engine = engines.find()
    config = config_of(workspace, variant, base_name or None)
    place = layout.place_of(workspace, variant)
    with locked(place.with_name(f"{place.name}.docker"), f"the image {config.names[0]}"):
        layers = layout.lay_out(workspace, variant)
        lowest = prepare_base(workspace, engine, base_name)
        key = _key(workspace, variant, lowest, layers)
        ready = _ready_image(workspace, engine, config, key, variant)
        if ready:
            print(f"  {'ready':<9}{' '.join(config.names)}", file=sys.stderr, flush=True)
            if full or json_file:
                _tell(
                    verify(workspace, engine, ready, variant, full=full, json_file=json_file),
                    variant,
                )
            return
        with _context(place, layers) as (folder, entries):
            image = _build(workspace, engine, variant, lowest, folder)
        with _discarded_on_failure(engine, image):
            with step("check", "every file of the image"):
                check(engine, image, entries, config.names[0])
            status = verify(workspace, engine, image, variant, full=full, json_file=json_file)
            _name(engine, image, config.names)
        _tell(status, variant)
        write_whole(_record(workspace, variant), json.dumps({"key": key, "image": image}) + "\n")
    print(f"  {'image':<9}{' '.join(config.names)} {image}", file=sys.stderr, flush=True)


def prepare_base(workspace: Workspace, engine: Engine, chosen: str = "") -> str:
    """Return the name of a base that the engine has: the chosen one, else the locked one.

    What is not there is made and imported, or pulled where it was chosen.
    """
    name = chosen or base.name(workspace)
    if engine.image_id(name):
        return name
    if chosen:
        with step("base", f"pulling {chosen}"):
            _pull(engine, chosen)
    else:
        with step("base", name):
            engine.ask("import", "--change", 'CMD ["/bin/bash"]', base.tar(workspace), name)
    return name


def _pull(engine: Engine, name: str) -> None:
    try:
        engine.ask("pull", "--quiet", name)
    except EngineError as error:
        raise EngineError(
            f"the base image {name} is not here and cannot be pulled:\n{error.what}",
            found=error.found,
            fix="look at its name, the registry and your login; or leave --base out: the "
            "project's own base needs no registry",
        ) from error


def _key(workspace: Workspace, variant: Variant, base_name: str, layers: Sequence[Layer]) -> str:
    """Return the hash of all that decides an image."""
    parts = [dockerfile.text_of(workspace, variant), base_name, layout.key_in(layers)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _record(workspace: Workspace, variant: Variant) -> Path:
    place = layout.place_of(workspace, variant)
    return place.with_name(f"{place.name}.docker.json")


def _ready_image(
    workspace: Workspace, engine: Engine, config: ImageConfig, key: str, variant: Variant
) -> str | None:
    """Return the image that was verified under this key, if all its names stand for it still."""
    try:
        record = json.loads(_record(workspace, variant).read_bytes())
        image = str(record["image"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    whole = record["key"] == key and all(engine.image_id(n) == image for n in config.names)
    return image if whole else None


@contextmanager
def _context(place: Path, layers: Sequence[Layer]) -> Iterator[tuple[Path, dict[str, Entry]]]:
    """Give the folder that the builder gets, and what the image must have afterwards."""
    target = place.with_name(f"{place.name}.context")
    entries: dict[str, Entry] = {}
    try:
        with step("archives", ", ".join(layer.name for layer in layers)), aside(target) as folder:
            folder.mkdir()
            for layer in layers:
                with (folder / f"{layer.name}.tar").open("wb+") as file:
                    normalised.write(layer.folder, file)
                    file.seek(0)
                    entries.update(image_entries.read(file))
            laid_out = {n: e.content for n, e in entries.items() if e.kind != "folder"}
            manifest.check(layers[0].folder.parent, laid_out)
        yield target, entries
    finally:
        shutil.rmtree(target, ignore_errors=True)


def _build(
    workspace: Workspace, engine: Engine, variant: Variant, base_name: str, context: Path
) -> str:
    """Build the Dockerfile and return the image's id; it has no name yet."""
    progress = _Progress()
    title = config_of(workspace, variant).title
    known = engine.unnamed_with_title(title)
    with scratch() as room:
        recipe, number = room / "Dockerfile", room / "image"
        recipe.write_text(dockerfile.text_of(workspace, variant), encoding="utf-8")
        options: list[str | Path] = [
            "--network",
            "none",
            "--build-arg",
            f"BASE={base_name}",
            "--force-rm",
        ]
        options += ["--iidfile", number, "--file", recipe]
        try:
            with step("build", f"{engine.kind} {engine.version}"):
                engine.follow(["build", *options, context], progress.tell)
        except EngineError:
            engine.discard(reversed(progress.new))
            raise
        except BaseException:
            # The engine goes on with its step when the program that asked for it has ended.
            if progress.images:
                following = _made_meanwhile(engine, progress) if progress.under_way else []
            else:
                following = _finished_meanwhile(engine, title, known)
            engine.discard([*following, *reversed(progress.new)])
            raise
        return number.read_text().strip()


class _Progress:
    """Shows the steps of a build, and remembers the images on the way, where it has such."""

    def __init__(self) -> None:
        self.images: list[str] = []
        self.new: list[str] = []
        self.old = self.under_way = False

    def tell(self, line: str) -> None:
        """Take note of a line of the builder's."""
        announced, image = STEP.match(line), IMAGE.match(line)
        if announced:
            number, what = announced[1] or announced[2], announced[3]
            what = textwrap.shorten(what, 62, placeholder=" ...")
            print(f"    {number:<7}{what}", file=sys.stderr, flush=True)
            self.old, self.under_way = what.startswith("FROM"), what.startswith("ADD")
        elif CACHED.match(line):
            self.old = True
        elif image:
            self.images.append(image[1])
            self.new += [] if self.old else [image[1]]
            self.under_way = False


def _made_meanwhile(engine: Engine, progress: _Progress) -> list[str]:
    """Wait for the image of the step under way; return what came."""
    for _ in range(SWEEPS):
        following = engine.unnamed_made_from(progress.images[-1])
        if following:
            return following
        time.sleep(0.5)
    return []


def _finished_meanwhile(engine: Engine, title: str, known: Set[str]) -> list[str]:
    """Return the image that BuildKit, which makes none on the way, has finished all the same."""
    for _ in range(LAST_SWEEPS):
        found = engine.unnamed_with_title(title) - known
        if found:
            return sorted(found)
        time.sleep(0.5)
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
    """Give a name for a container that is removed in the end, running or not."""
    name = f"theano-stacks-{secrets.token_hex(6)}"
    try:
        yield name
    finally:
        engine.remove_container(name)


def check(engine: Engine, image: str, entries: dict[str, Entry], name: str) -> None:
    """Raise IntegrityError unless the image has every file as it was laid out."""
    with _container(engine) as container:
        engine.ask("create", "--name", container, "--network=none", image)
        with engine.pipe("export", container) as stream:
            image_entries.compare(entries, image_entries.read(stream), name)


def verify(
    workspace: Workspace,
    engine: Engine,
    image: str,
    variant: Variant,
    *,
    full: bool,
    json_file: Path | None,
) -> int:
    """Run the verification suite in the image, print its table, and keep its report.

    Returns PASSED, or NO_DEVICE where the image's device is not there. Raises VerifyError where a
    check failed or the suite could not run.
    """
    words = ["verify", "--json", *(["--full"] if full else [])]
    sys.stdout.flush()
    with _container(engine) as container, aside(report_path(workspace, variant)) as report:
        options = ["--name", container, *CONFINED, image, *words]
        with report.open("wb") as file:
            status = engine.attach("run", *options, output=file)
        if status not in (PASSED, FAILED, NO_DEVICE):
            raise_for(status, f"the image of {variant.id} could not be verified (status {status})")
        if not report.stat().st_size:
            raise_for(status, f"the verification of the image of {variant.id} broke off")
    if json_file:
        write_whole(json_file, report_path(workspace, variant).read_bytes())
    if status == FAILED:
        raise_for(status, f"the image of {variant.id} failed its verification")
    return status


def _tell(status: int, variant: Variant) -> None:
    if status == NO_DEVICE:
        raise_for(status, f"the image of {variant.id} is made, and verified but for its device")


def report_path(workspace: Workspace, variant: Variant) -> Path:
    """Return where the last report of a variant's image lies."""
    return workspace.reports / "images" / variant.framework.name / f"{variant.name}.json"


def _name(engine: Engine, image: str, names: Sequence[str]) -> None:
    """Give an image its names, all of them or none."""
    before = {name: engine.image_id(name) for name in names}
    try:
        for name in names:
            engine.ask("tag", image, name)
    except BaseException:
        for name, old in before.items():
            if old:
                engine.ask("tag", old, name)
            elif engine.image_id(name):
                engine.ask("image", "rm", name)
        raise
