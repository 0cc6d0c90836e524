from __future__ import annotations

from pathlib import Path

import pytest

from stacks.channel.recipe import read_recipes
from stacks.channel.staging.amdlibm import UserTarball
from stacks.channel.staging.compiled import Compiled, Forwarding, ThinFront
from stacks.channel.staging.python_packages import PythonModules
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.sources.pins import DebPin, Pins, read_pins

RECIPE = """\
package:
  name: six
  version: 1.16.0
source:
  - project: six
    version: 1.16.0
    file: six-1.16.0-py2.py3-none-any.whl
about:
  license: MIT
  summary: One source for Python 2 and 3
  republish: "yes"
extra:
  stage: wheel
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "six/recipe.yaml"
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_a_recipe(workspace: Workspace, tmp_path: Path) -> None:
    write(tmp_path, RECIPE)
    [(name, recipe)] = read_recipes(tmp_path).items()
    assert (name, recipe.package.version, recipe.subdir) == ("six", "1.16.0", "linux-64")
    assert [pin.filename for pin in recipe.pins(read_pins(workspace.sources_lock))] == [
        "six-1.16.0-py2.py3-none-any.whl"
    ]
    with pytest.raises(UsageError, match=r"no file six-1.16.0.* is pinned"):
        recipe.pins(Pins())


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("  summary", "  sumary", 10, "summary"),
        ("stage: wheel", "stage: weel", 13, "wheel"),
        ("name: six", "name: Six", 2, "name"),
        ("version: 1.16.0\nsource", "version: 1.16\nsource", 3, "version"),
        ("    file:", "    fiel:", 7, "file"),
        ("about:", "requirements:\n  rum: [python]\nabout:", 9, "run"),
    ],
)
def test_a_mistake_is_reported_with_its_line(
    old: str, new: str, line: int, message: str, tmp_path: Path
) -> None:
    assert old in RECIPE
    path = write(tmp_path, RECIPE.replace(old, new))
    with pytest.raises(UsageError) as caught:
        read_recipes(tmp_path)
    assert f"{path}:{line}:" in caught.value.what
    assert message in caught.value.what


@pytest.mark.parametrize(
    "extra",
    [
        "{stage: wheel, site_packages: ../../etc}",
        "{stage: wheel, site_packages: /etc}",
        "{stage: sdist, package: .., distribution: x}",
        "{stage: sdist, package: x, distribution: x, scripts: {../x: a}}",
        "{stage: libraries, links: {../x.so: a}}",
        "{stage: libraries, links: {x.so: ../../a}}",
        "{stage: debian-files, files: {usr/lib: ../lib}}",
        "{stage: debian-files, files: {/etc/*: lib}}",
        '{stage: libraries, libraries: ["a\\nb"]}',
        '{stage: forwarding, library: "-x", stands_for: y}',
        "{stage: amdlibm, variable: A B}",
    ],
)
def test_a_stage_names_no_path_outside_its_folders(tmp_path: Path, extra: str) -> None:
    path = write(tmp_path, RECIPE.partition("extra:")[0] + f"extra: {extra}\n")
    with pytest.raises(UsageError, match=rf"^{path}:12:\d+: extra\."):
        read_recipes(tmp_path)


# Stages that need the project's own code only, or the user's file.
WITHOUT_SOURCES = (Forwarding, PythonModules, ThinFront, UserTarball)


def test_every_committed_recipe_has_pinned_sources_and_a_glibc_floor_if_native(
    workspace: Workspace,
) -> None:
    pins = read_pins(workspace.sources_lock)
    for name, recipe in read_recipes(workspace.recipes).items():
        # The stage `compiled` is for both.
        if not isinstance(recipe.extra, Compiled):
            assert bool(recipe.pins(pins)) != isinstance(recipe.extra, WITHOUT_SOURCES), name
        floors = [spec for spec in recipe.requirements.run if spec.startswith("__glibc >=")]
        assert len(floors) == (0 if recipe.build.noarch else 1), name


def test_pins_have_the_names_that_stages_use(workspace: Workspace) -> None:
    pins = read_pins(workspace.sources_lock)
    recipes = read_recipes(workspace.recipes)
    assert list(recipes["libblas-blis"].pins_by_name(pins)) == [
        "libblas3",
        "liblapack3",
        "base-files",
    ]


def test_no_pin_but_one_is_of_a_suite_that_moves(workspace: Workspace) -> None:
    """No released suite has SLEEF 3.8 or later; upstream's archive outlives Debian's revisions."""
    pins = read_pins(workspace.sources_lock)
    released = {"bullseye", "bookworm", "trixie"}
    moving = {pin.name for pin in (*pins.debs, *pins.sources) if pin.suite not in released}
    assert moving == {"sleef"}
    [source] = read_recipes(workspace.recipes)["amdlibm-compat"].pins(pins)
    assert isinstance(source, DebPin) and source.filename == "sleef_3.9.0.orig.tar.gz"


def test_a_source_package_to_compile_gives_the_pins_of_its_files(tmp_path: Path) -> None:
    start, _, rest = RECIPE.partition("  - project")
    text = f"{start}  - suite: s\n    sources: [a]\nabout{rest.partition('about')[2]}"
    write(tmp_path, text)
    files = tuple(
        DebPin(suite="s", name="a", version="1", path=f"pool/{n}", size=1, sha256="0" * 64)
        for n in ("a_1.dsc", "a_1.orig.tar.xz")
    )
    recipe = read_recipes(tmp_path)["six"]
    found = recipe.pins_by_name(Pins(sources=files))
    assert found == {"a_1.dsc": files[0], "a_1.orig.tar.xz": files[1]}
    with pytest.raises(UsageError, match="no source package a of s is pinned"):
        recipe.pins(Pins())
    (tmp_path / "six/recipe.yaml").write_text(text.replace("[a]", '[a]\n    files: "*.orig.tar.*"'))
    recipe = read_recipes(tmp_path)["six"]
    assert recipe.pins(Pins(sources=files)) == (files[1],)
