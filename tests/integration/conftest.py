import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import common  # noqa: F401
import pytest
from xdist.scheduler import LoadScopeScheduling

from integration import conda_client, engines, slow
from integration.conda_client import Conda
from integration.engines import NAMES, PASSES, Build, Running, State
from integration.published import not_at_mirrors
from integration.tiny import DEAD, Tiny, prepare, share_files, workspace_below
from stacks.channel.candidates import read_channel
from stacks.channel.recipe import Recipe
from stacks.core.workspace import Workspace, default_workspace
from stacks.environments.make import build as pipeline
from stacks.image import engine as engine_door
from stacks.image import layout
from stacks.image.engine import Engine
from stacks.locks.solution import publication
from stacks.sources.fetch import fetch
from stacks.sources.mirrors import VARIABLE as VENDOR
from stacks.sources.pins import DebPin
from stacks.sources.places import CHANNEL
from stacks.variants.load import all_variants, load_variant

Prefix = Callable[[str, str], Path]
# The property of a test's report that names a source which it did not publish.
LACKING = "not at a mirror"


# The longest groups start first, so that no process is left alone with one at the end.
LONG = (
    "test_dockerfile_alone",
    "test_verify_libraries",
    "test_device",
    "engine",
    "test_guides",
    "test_first_step",
    "test_verify_faults",
    "test_bare_machine",
    "test_fixes",
    "test_blas_choice",
    "test_threads",
    "test_pip",
    "test_stack",
    "test_verify_wheel",
    "test_recipes",
    "test_published",
    "test_extensions",
    "test_workloads",
)
# The parts of `./invoke test` by group; all others are its part `integration`.
MARKERS = {
    "engine": "images",
    "test_image": "images",
    "test_dockerfile_alone": "images",
    "test_page": "browser",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    groups = {group: place for place, group in enumerate(LONG)}
    items.sort(key=lambda item: groups.get(group_of(item.nodeid), len(LONG)))
    tests = [f"{Path(item.nodeid.partition('::')[0]).stem}::{item.name}" for item in items]
    for item, test in zip(items, tests, strict=True):
        if marker := MARKERS.get(group_of(item.nodeid)):
            item.add_marker(marker)
        if slow.is_slow(test):
            item.add_marker("slow")
    here = {path.stem for path in Path(__file__).parent.glob("test_*.py")}
    if here == {test.partition("::")[0] for test in tests} and (unused := slow.unused(tests)):
        raise pytest.UsageError(f"tests/integration/slow.py: no test is named {', '.join(unused)}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    return Groups(config, log)


class Groups(LoadScopeScheduling):  # type: ignore[misc]
    """Keep the tests of a module, and all that use an engine, in one process.

    xdist's own marks of groups (3.8) are lost on pytest 9.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def group_of(nodeid: str) -> str:
    """Return the name of the group of tests that a test is done with."""
    module = Path(nodeid.partition("::")[0]).stem
    return "engine" if "_engine" in module else module


@pytest.fixture(scope="session", autouse=True)
def kept(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give the checks of these tests a folder for what they compile: see verify_driver.py."""
    os.environ["KEPT"] = str(tmp_path_factory.mktemp("kept"))


@pytest.fixture(scope="session")
def workspace() -> Workspace:
    """Give this checkout with the user's cache."""
    return default_workspace()


@pytest.fixture(scope="session")
def conda_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    code = tmp_path_factory.mktemp("conda")
    conda_client.lay_out(code)
    return code


@pytest.fixture
def conda(conda_code: Path, home: Path) -> Conda:
    """Give conda with an empty cache."""
    return Conda(conda_code, home)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Give a user's empty home."""
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture(scope="session")
def prefix(workspace: Workspace) -> Prefix:
    """Give the function that makes and returns an environment by framework and flavour."""

    def make(framework: str, flavour: str) -> Path:
        return pipeline.make_environment(workspace, load_variant(workspace, flavour, framework))

    return make


@pytest.fixture(scope="session")
def running_engine() -> Iterator[Running]:
    with engines.running() as running:
        yield running


@pytest.fixture
def engine(running_engine: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Give a running container engine, which programs that the test starts use too."""
    if running_engine.host:
        monkeypatch.setenv("DOCKER_HOST", running_engine.host)
    engine = engine_door.find()
    yield engine
    engine.client.close()


@pytest.fixture(scope="session")
def tiny_model(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return prepare(workspace, tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def tiny(tiny_model: Tiny, tmp_path: Path) -> Tiny:
    """Give two small variants with a cache of their own that has all packages and sources."""
    root = tmp_path / "tiny"
    shutil.copytree(tiny_model.root, root)
    return Tiny(root)


@pytest.fixture
def no_other_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no place that a test does not name, no Debian archive or index, and nobody logged in."""
    for name, value in {
        **DEAD,
        VENDOR: "",
        CHANNEL: "",
        "DEBIAN_SNAPSHOT_MIRROR": "",
        "DOCKER_CONFIG": str(tmp_path / "docker"),
        "NETRC": str(tmp_path / "netrc"),
    }.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def copyleft(workspace: Workspace, tiny_model: Tiny) -> Mapping[Any, Path]:
    """Give the sources that are published with the small framework, except what no mirror has."""
    own = tiny_model.workspace
    pins = publication(own, read_channel(own), all_variants(own)).sources
    lacking = not_at_mirrors(workspace, pins)
    return fetch(workspace, [pin for pin in pins if pin not in lacking])


@pytest.fixture
def publishable(
    workspace: Workspace,
    tiny: Tiny,
    copyleft: Mapping[DebPin, Path],
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    """Give the cache of `tiny` the sources to publish, without those that no mirror has."""
    share_files(copyleft.values(), workspace, tiny.cache)
    all_sources = Recipe.published_sources

    def available(*which: Any) -> tuple[DebPin, ...]:
        pins = all_sources(*which)
        for pin in set(pins) - copyleft.keys():
            record_property(LACKING, f"{pin.suite}/{pin.name} {pin.version}: {pin.filename}")
        return tuple(pin for pin in pins if pin in copyleft)

    monkeypatch.setattr(Recipe, "published_sources", available)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [r for each in terminalreporter.stats.values() for r in each]
    properties = [p for r in reports for p in getattr(r, "user_properties", ())]
    if lacking := sorted({str(value) for name, value in properties if name == LACKING}):
        terminalreporter.section("published without these sources, which no mirror has")
        terminalreporter.write_line("\n".join(lacking))


@pytest.fixture
def small(
    workspace: Workspace, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Build:
    """Give the function that builds the small image with a given entry program."""
    own = workspace_below(tmp_path / "checkout", workspace.cache)

    def build(play: str, **options: Any) -> None:
        layers = engines.write_small(tmp_path / hashlib.sha256(play.encode()).hexdigest(), play)
        monkeypatch.setattr(layout, "lay_out", lambda *_: layers)
        engine_door.build(own, engines.small_variant(own), **options)

    return build


@pytest.fixture
def before(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> State:
    """Give the state of an engine that has an image by the names already."""
    if not engine.image_id(NAMES[0]):
        with engines.building(tmp_path_factory.mktemp("before"), PASSES) as process:
            process.communicate()
    return engines.state(engine)


@pytest.fixture(scope="module")
def tidied(running_engine: Running) -> Iterator[None]:
    """Remove the small image, and all that its names led to, after the module's tests."""
    yield
    environ = {"DOCKER_HOST": running_engine.host} if running_engine.host else dict(os.environ)
    engine = engine_door.find(environ)
    for name in NAMES:
        engine.remove_name(name)
    if running_engine.root:
        engine.client.images.prune(filters={"dangling": True})
    engine.client.close()
