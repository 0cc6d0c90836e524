"""Recipes: their mistakes, their pins, and what may be published with which sources."""

import re
from pathlib import Path

import pytest

from stacks.channel.build_context import Debs
from stacks.channel.recipe import Recipe, read_recipes
from stacks.channel.staging.binaries import UserTarball
from stacks.channel.staging.compiled import Compiled, Forwarding, ThinFront
from stacks.channel.staging.python_packages import PythonModules
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.sources.pins import DebPin, Pins, read_pins
from unit.helpers.environments import add

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
    return add(folder, "six/recipe.yaml", text)


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
        "{stage: edited-sdist, package: .., distribution: x}",
        "{stage: edited-sdist, package: x, distribution: x, scripts: {../x: a}}",
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


def test_a_source_package_to_compile_gives_the_pins_of_its_files(tmp_path: Path) -> None:
    start, _, rest = RECIPE.partition("  - project")
    text = f"{start}  - suite: s\n    sources: [a]\nabout{rest.partition('about')[2]}"
    write(tmp_path, text)
    files = (pin("a", "a_1.dsc"), pin("a", "a_1.orig.tar.xz"))
    recipe = read_recipes(tmp_path)["six"]
    assert (recipe.package.version, recipe.subdir) == ("1.16.0", "linux-64")
    found = recipe.pins_by_name(Pins(sources=files))
    assert found == {"a_1.dsc": files[0], "a_1.orig.tar.xz": files[1]}
    with pytest.raises(UsageError, match="no source package a of s is pinned"):
        recipe.pins(Pins())
    (tmp_path / "six/recipe.yaml").write_text(text.replace("[a]", '[a]\n    files: "*.orig.tar.*"'))
    recipe = read_recipes(tmp_path)["six"]
    assert recipe.pins(Pins(sources=files)) == (files[1],)


# Debian's source packages of debs that are in packages with copyleft parts, with the licences that
# their copyright files name for these debs: none asks for the source.
PERMISSIVE = {
    "base-files": "the texts of licences",
    "bzip2": "bzip2-1.0.6",
    "expat": "MIT",
    "isl": "MIT",
    "jansson": "MIT",
    "libffi": "MIT",
    "libzstd": "BSD-3-Clause, or GPL-2",
    "mpdecimal": "BSD-2-Clause",
    "ncurses": "X11",
    "openssl": "OpenSSL; Apache-2.0 since 3.0",
    "python2.7": "PSF-2.0",
    "python3.9": "PSF-2.0",
    "python3.11": "PSF-2.0",
    "python3.13": "PSF-2.0",
    "python3-stdlib-extensions": "PSF-2.0",
    "sqlite3": "public domain",
    "util-linux": "libuuid is BSD-3-Clause",
    "xz-utils": "liblzma is in the public domain",
    "zlib": "Zlib",
}


def recipe(republish: str, **about: object) -> Recipe:
    return Recipe.model_validate(
        {
            "package": {"name": "foo", "version": "1"},
            "about": {"license": "MIT", "summary": "s", "republish": republish, **about},
            "extra": {"stage": "python-modules"},
        }
    )


@pytest.mark.parametrize(
    ("republish", "about", "message"),
    [
        ("with sources", {}, "say the conditions"),
        ("no", {}, "say the conditions"),
        ("no", {"conditions": "c", "sources": [{"suite": "s", "sources": ["a"]}]}, "sources go"),
        ("maybe", {"conditions": "c"}, "republish"),
    ],
)
def test_what_a_recipe_must_say(republish: str, about: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recipe(republish, **about)


def pin(name: str, file: str) -> DebPin:
    path = f"pool/main/{name}/{file}"
    return DebPin(suite="s", name=name, version="1", path=path, size=1, sha256="0" * 64)


def test_all_files_of_the_named_source_packages() -> None:
    files = (pin("a", "a.dsc"), pin("a", "a.tar.xz"), pin("b", "b.dsc"))
    copyleft = recipe("with sources", conditions="c", sources=[{"suite": "s", "sources": ["a"]}])
    assert copyleft.published_sources(Pins(sources=files)) == files[:2]
    assert recipe("yes").published_sources(Pins(sources=files)) == ()
    with pytest.raises(UsageError, match="no source package a of s is pinned"):
        copyleft.published_sources(Pins(sources=files[2:]))


def debs_of(each: Recipe, pins: Pins) -> list[DebPin]:
    return [
        pins.deb(debs.suite, name)
        for debs in each.source
        if isinstance(debs, Debs)
        for name in debs.debs
        # What builds a package is not in it.
        if name not in each.extra.debs_of_tools()
    ]


def source_package(deb: DebPin) -> str:
    return deb.path.split("/")[3]


def test_each_copyleft_part_is_published_with_its_source_in_the_same_version(
    workspace: Workspace,
) -> None:
    pins = read_pins(workspace.sources_lock)
    for name, each in read_recipes(workspace.recipes).items():
        if each.about.republish != "with sources":
            continue
        debs = debs_of(each, pins)
        needed = {
            (deb.suite, source_package(deb), re.sub(r"\+b\d+$", "", deb.version))
            for deb in debs
            if source_package(deb) not in PERMISSIVE
        }
        sources = each.published_sources(pins)
        assert {(source.suite, source.name, source.version) for source in sources} == needed, name
        for suite, package, _ in needed:
            files = [s.filename for s in sources if (s.suite, s.name) == (suite, package)]
            assert [file for file in files if file.endswith(".dsc")], package
            assert [file for file in files if ".orig.tar." in file], package
            assert [file for file in files if re.search(r"\.(debian\.tar\.xz|diff\.gz)$", file)]


def test_what_each_recipe_says_of_its_licence(workspace: Workspace) -> None:
    licence = (workspace.root / "LICENSE").read_bytes()
    for name, each in read_recipes(workspace.recipes).items():
        if re.search("GPL|Sleepycat", each.about.license):
            assert each.about.republish in ("with sources", "on request"), name
        if each.about.license.startswith("LicenseRef"):
            assert not each.may_republish(), name
        # The fields for publishing are in no hash.
        assert set(each.model_dump(mode="json")["about"]) == {"homepage", "license", "summary"}
        own = [path for path in each.project_files() if path.name.startswith("LICENSE-")]
        # The function that replaces one of PoCL's is under PoCL's licence.
        if each.extra.takes_src and each.package.name != "pocl":
            assert [path.read_bytes() for path in own] == [licence], name


def test_pythons_declare_the_copyleft_libraries_that_they_load(workspace: Workspace) -> None:
    declared = {"libreadline8": "GPL-3.0", "libdb5.3": "Sleepycat", "libcrypt1": "LGPL-2.1"}
    pins = read_pins(workspace.sources_lock)
    for name, each in read_recipes(workspace.recipes).items():
        if each.package.name == "python":
            debs = {deb.name for deb in debs_of(each, pins)}
            assert "libreadline8" in debs, name
            for deb, licence in declared.items():
                assert (deb in debs) == (licence in each.about.license), (name, licence)


def test_the_page_lists_every_package_with_conditions(workspace: Workspace) -> None:
    page = (workspace.root / "docs/reference/licences.md").read_text()
    rows = [line.split("|") for line in page.splitlines() if line.startswith("|")]
    listed = {
        name.strip(): kind.strip()
        for _, names, kind, *_ in rows
        for name in names.replace(" 2.7, 3.9, 3.11, 3.13", "").split(",")
        if kind.strip() in ("with sources", "on request", "no")
    }
    recipes = read_recipes(workspace.recipes).values()
    conditional = {
        each.package.name: each.about.republish for each in recipes if each.about.republish != "yes"
    }
    assert listed == conditional
