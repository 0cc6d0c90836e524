"""Tasks for the project's own files: tests, schemas, pages; what it carries elsewhere."""

from stacks.core.workspace import default_workspace
from stacks.tasks.options import file_of, folder_of, path_of
from stacks.tasks.task import excludes, needs, one_of, task


@task(
    "test --unit",
    "test --faults 1 --seed 2 --trial 65",
    help={
        "unit": "unit tests: no network (3 min)",
        "integration": "real channel, locks, environments, verification; interrupted, damaged and "
        "concurrent builds (60 min)",
        "images": "images, with and without an engine (10 min)",
        "browser": "the page of timings and the documentation in Chromium (4 min)",
        "examples": "the programs of examples/, each in its environment (15 min)",
        "faults": "this many random faults: kills, damage, bad mirrors, full disks, hostile "
        "archives and more (60: 2 min; without a choice of parts, 40 are run)",
        "seed": "of the random choices of --faults (default: 1)",
        "trial": "with --faults 1: the number of the one trial to repeat",
        "keyword": "the tests whose names match, as in pytest -k",
        "all": "with the slow tests, which CI runs once a week (90 min)",
    },
    rules=(
        needs("seed", "faults"),
        needs("trial", "faults"),
        excludes(
            "all", "unit integration images browser examples faults keyword", "has every test"
        ),
    ),
    protects=("build", "cache"),
    in_checkout=True,
)
def test(
    unit: bool = False,
    integration: bool = False,
    images: bool = False,
    browser: bool = False,
    examples: bool = False,
    faults: int = 0,
    seed: int = 1,
    trial: int = -1,
    keyword: str = "",
    all_: bool = False,
) -> None:
    """Check this project: style, spelling, types, imports and tests, or only the named parts.

    Named parts include their slow tests. Times are for two cores with the sources in the cache.
    """
    from stacks.core.errors import UsageError
    from stacks.project import checks

    chosen = {"unit": unit, "integration": integration, "images": images, "browser": browser}
    chosen["examples"] = examples
    if faults < 0:
        raise UsageError("--faults takes a number of trials", found=faults)
    trials = checks.fault_options(faults, seed, trial) if faults else ()
    parts = [part for part, wanted in chosen.items() if wanted]
    checks.test(parts, keyword or None, trials, slow=all_)


@task(
    "schema",
    "schema --check",
    help={"check": "write nothing; fail if a committed schema is stale"},
    in_checkout=True,
)
def schema(check: bool = False) -> None:
    """Write the JSON schemas of the YAML files in envs/."""
    from stacks.project import documentation

    files = documentation.schemas(default_workspace())
    if check:
        documentation.check_files(files, "schema")
    else:
        documentation.write_files(files)


@task(
    "docs",
    "docs --to ~/public_html/theano-stacks",
    help={
        "to": "the folder of the site, which is replaced (default: build/docs)",
        "check": "write nothing; fail if a page of the reference is stale",
    },
    rules=(excludes("check", "to", "writes nothing"),),
    protects=("build",),
    in_checkout=True,
)
def docs(to: str = "", check: bool = False) -> None:
    """Make the documentation's site, and the pages of the reference that follow from the code.

    A broken link or anchor, or a page that the index lacks, is an error.
    """
    from stacks.project import documentation
    from stacks.tasks import help as pages

    workspace = default_workspace()
    reference = workspace.root / "docs/reference"
    files = {
        reference / "commands.md": pages.commands(),
        reference / "files.md": documentation.document(),
    }
    if check:
        documentation.check_files(files, "docs")
        return
    documentation.write_files(files)
    documentation.build_site(workspace, folder_of(to) if to else workspace.build / "docs")


@task(
    "vendor carried --variants mkl,theano-0.8.2/mkl",
    "vendor carried --check",
    help={
        "folder": "the folder to write, or with --check to compare",
        "variants": "NAME, FRAMEWORK/NAME or the path of a stack.yaml, with commas between",
        "framework": "the framework of names that have none; with --all, only this one",
        "all": "all variants",
        "sources": "also the sources that the packages are built from",
        "notebooks": "also ipykernel, for ./invoke kernel",
        "images": "also what docker/Dockerfile builds with",
        "archive": "also write the folder to this file, a .tar.zst",
        "check": "write nothing; read every file and fail if one is missing, changed or extra",
    },
    positional=["folder"],
    rules=(
        one_of("variants all check"),
        excludes("check", "framework sources notebooks images archive", "reads the whole folder"),
    ),
    protects=("cache",),
)
def vendor(
    folder: str,
    variants: str = "",
    framework: str = "",
    all: bool = False,  # the option's name
    sources: bool = False,
    notebooks: bool = False,
    images: bool = False,
    archive: str = "",
    check: bool = False,
) -> None:
    """Write all that some environments need into a folder, for machines without a network."""
    from stacks.distribution import vendor as vendoring
    from stacks.tasks.options import names_of
    from stacks.variants.load import load_variant, select

    target = folder_of(folder)
    if check:
        vendoring.check(target)
        return
    workspace = default_workspace()
    if all:
        chosen = select(workspace, framework=framework)
    else:
        named = (load_variant(workspace, v, framework or None) for v in names_of(variants))
        by_name = {str(variant.file or variant.id): variant for variant in named}
        chosen = tuple(variant for _, variant in sorted(by_name.items()))
    vendoring.vendor(
        workspace,
        chosen,
        target,
        sources=sources,
        notebooks=notebooks,
        images=images,
        archive=file_of(archive),
    )


@task(
    "verify-app ~/blas-verify.pyz",
    "verify-app --wheel .",
    help={
        "file": "the file, which is replaced, or a folder for it",
        "wheel": "write a wheel for pip and uv, with a plugin for pytest; so does a name in .whl",
    },
    positional=["file"],
)
def verify_app(file: str, wheel: bool = False) -> None:
    """Write the verification as one file, for any Python with a framework or NumPy.

    It needs nothing else: python blas-verify.pyz, on Python 2.7 to 3.14.
    """
    from stacks.core.console import display_path, next_step
    from stacks.core.process import quoted
    from stacks.distribution import release as app

    path = app.write_suite(default_workspace(), path_of(file), wheel=wheel)
    written = quoted([display_path(path)])
    install = f"python -m pip install {written} && python -m blas_verify"
    next_step(install if path.suffix == ".whl" else f"python {written}")


@task("version")
def version() -> None:
    """Print the version of this project, and the commit of the checkout."""
    from stacks.core.workspace import described

    print(f"theano-stacks {described()}")
