from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.image import builder, dockerfile
from stacks.image.config import ImageConfig
from stacks.locks import lock
from stacks.variants.load import all_variants, load_variant

GOLDEN = r"""# theano-fast: "Fast", at $0, on Theano.
#
# Rendered from docker/archives.jinja by `./invoke build --to docker`, which writes the archives
# below, has this built without a network, checks every file of the image, verifies that it works,
# and only then names it:
#
#   theano-fast:1.0.5
#   theano-fast:latest
#
# No instruction runs a program, so that every builder can follow them, and gets the same layers.

# The project's own base, made of pinned Debian packages (`./invoke base`). Any other that has
# glibc 2.31 or newer will do: `./invoke build --base debian:bookworm-slim`.
ARG BASE=theano-stacks-base:0123
FROM ${BASE}
ARG BASE

# ADD unpacks an archive and keeps the times of its files and folders. What variants have in common
# comes first, so that an engine keeps it once.
ADD packages.tar /
ADD blas.tar /
ADD settings.tar /

ENV HOME="/home/theano" \
    PATH="/opt/theano/bin:/usr/bin"

LABEL org.opencontainers.image.description="\"Fast\", at \$0, on Theano" \
      org.opencontainers.image.base.name="${BASE}"

# Not root; any other user will do as well (`docker run --user`).
USER 10001:0
WORKDIR /work
ENTRYPOINT ["/usr/local/bin/theano-stacks", "it's"]
CMD []
"""


def arguments(instruction: str) -> dict[str, str]:
    """Return the pairs of an ENV or LABEL as BuildKit's lexer splits and expands them.

    In double quotes a backslash escapes a quote, a dollar and itself; `$` expands a variable.
    """
    found, name, text, quoted = {}, "", "", False
    characters = iter(instruction.split(" ", 1)[1] + " ")
    for character in characters:
        if character == '"':
            quoted = not quoted
        elif character == "\\" and quoted:
            following = next(characters)
            text += following if following in '\\"$' else character + following
        elif character == "$":
            text += "<expanded>"
        elif character == "=" and not name:
            name, text = text, ""
        elif character == " " and not quoted:
            if name:
                found[name] = text
            name, text = "", ""
        else:
            text += character
    assert not quoted
    return found


def instructions(text: str) -> list[str]:
    """Return the instructions of a Dockerfile, as its parser joins lines and drops comments."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return "\n".join(lines).replace("\\\n", "").splitlines()


NASTY = 'it\'s "quoted" $HOME ${BASE} `id` $(id) <<EOF # a=b \\n {{ config }} {% raw %} \\'


def test_nasty_values_come_out_of_the_dockerfile_as_they_are(workspace: Workspace) -> None:
    variant = load_variant(workspace, "mkl", "theano-1.0.5")
    plain = instructions(dockerfile.text_of(workspace, variant))
    text = dockerfile.text_of(workspace, variant.model_copy(update={"summary": NASTY}))
    found = instructions(text)
    assert [line.split()[0] for line in found] == [line.split()[0] for line in plain]
    [label] = [line for line in found if line.startswith("LABEL")]
    assert arguments(label)["org.opencontainers.image.description"].startswith(f"{NASTY}, on ")
    # No comment at the top is one of the parser's directives (`# syntax=`, `# escape=`).
    assert not re.match(r"#\s*\w+\s*=", text)


def test_a_value_of_two_lines_is_refused(workspace: Workspace) -> None:
    variant = load_variant(workspace, "mkl", "theano-1.0.5")
    with pytest.raises(UsageError, match="cannot be written in a Dockerfile"):
        dockerfile.text_of(workspace, variant.model_copy(update={"summary": "a\nRUN evil"}))


def own_docker(workspace: Workspace, root: Path) -> Workspace:
    """Return the workspace with a root that has the templates, but no rendered files."""
    for name in ("envs", "recipes"):
        (root / name).symlink_to(workspace.root / name)
    (root / "docker").mkdir()
    for path in (*workspace.docker.glob("*.jinja"), *workspace.docker.glob("*.yaml")):
        (root / "docker" / path.name).symlink_to(path)
    return replace(workspace, root=root)


def test_a_dockerfile_as_a_person_would_write_it(workspace: Workspace) -> None:
    config = ImageConfig(
        repository="theano-fast",
        tags=("1.0.5", "latest"),
        title="theano-fast",
        description='"Fast", at $0, on Theano',
        environment={"HOME": "/home/theano", "PATH": "/opt/theano/bin:/usr/bin"},
        labels={
            "org.opencontainers.image.description": '"Fast", at $0, on Theano',
            "org.opencontainers.image.base.name": dockerfile.BASE,
        },
        user="10001:0",
        workdir="/work",
        entrypoint=("/usr/local/bin/theano-stacks", "it's"),
        command=(),
    )
    words = {"base": "theano-stacks-base:0123", "layers": ("packages", "blas", "settings")}
    variant = load_variant(workspace, "mkl", "theano-1.0.5")
    template = dockerfile.FROM_ARCHIVES
    assert dockerfile.render(workspace, template, variant, config, **words) == GOLDEN


@pytest.mark.parametrize("flavour", ["openblas", "pip-openblas"])
def test_a_dockerfile_checks_each_file_of_the_lock_twice(
    workspace: Workspace, flavour: str
) -> None:
    variant = load_variant(workspace, flavour, "theano-1.0.5")
    locked = lock.read(workspace, variant)
    text = dockerfile.dockerfile_path(workspace, variant).read_text()
    added = re.findall(r"ADD --checksum=sha256:(\w+) \\\n    \$\{(\w+)\}/(\S+) ", text)
    assert {path.rpartition("/")[2]: digest for digest, _, path in added} == {
        **{package.file_name: package.sha256 for package in locked.packages},
        **{pin.filename: pin.sha256 for pin in locked.requirements},
    }
    # A named context takes the place of ADD, so a step compares the same files again.
    [listed] = re.findall(r'<<"END" /files\n(.*?)END\n', text, re.DOTALL)
    assert listed.splitlines() == [f"{digest}  {of.lower()}/{path}" for digest, of, path in added]


def test_a_build_from_a_web_server_runs_no_program_that_the_server_chose(
    workspace: Workspace,
) -> None:
    digest = builder.read_builder_file(workspace).sha256
    for variant in all_variants(workspace):
        text = dockerfile.dockerfile_path(workspace, variant).read_text()
        [added] = re.findall(r"ADD (.*) \\\n    \$\{CHANNEL\}/image/busybox /image/\n", text)
        assert added == f"--checksum=sha256:{digest} --chmod=755"


def test_an_image_is_verified_by_its_last_step_and_only_cuda_may_lack_its_device(
    workspace: Workspace,
) -> None:
    for variant in all_variants(workspace):
        last = instructions(dockerfile.dockerfile_path(workspace, variant).read_text())[-1]
        assert re.sub(r" +", " ", last) == (
            "RUN --network=none --mount=type=tmpfs,target=/tmp theano-stacks verify"
            + (" || [ $? = 3 ]" if variant.device == "cuda" else "")
        )


def test_a_variant_without_a_lock_is_named(workspace: Workspace) -> None:
    variant = load_variant(workspace, "mkl").model_copy(update={"name": "new"})
    with pytest.raises(UsageError, match=r"theano-1\.0\.5/new is not locked"):
        dockerfile.write(workspace, [variant])


def test_the_committed_dockerfiles_are_current(workspace: Workspace) -> None:
    dockerfile.check(workspace, all_variants(workspace))


def test_a_variant_without_a_blas_has_a_layer_less(workspace: Workspace) -> None:
    text = dockerfile.text_of(workspace, load_variant(workspace, "pip-default", "theano-0.8.2"))
    assert [line for line in text.splitlines() if line.startswith("ADD")] == [
        "ADD packages.tar /",
        "ADD settings.tar /",
    ]


def test_changed_and_missing_dockerfiles_are_named(workspace: Workspace, tmp_path: Path) -> None:
    workspace = own_docker(workspace, tmp_path)
    variants = [load_variant(workspace, "mkl"), load_variant(workspace, "blis")]
    dockerfile.write(workspace, variants)
    dockerfile.check(workspace, variants)
    mkl, blis = (dockerfile.dockerfile_path(workspace, variant) for variant in variants)
    mkl.write_text(mkl.read_text().replace("USER 10001:0", "USER root"))
    with pytest.raises(StaleError) as caught:
        dockerfile.check(workspace, variants)
    [line] = caught.value.what.splitlines()
    assert line.startswith("docker/theano-1.0.5/mkl/Dockerfile: line ")
    assert line.endswith("is 'USER root', should be 'USER 10001:0'")
    assert caught.value.fix == "./invoke render, then commit docker/"
    text = dockerfile.alone_text_of(workspace, variants[0])
    mkl.write_text(f"{text}RUN true\n")
    blis.unlink()
    with pytest.raises(StaleError) as caught:
        dockerfile.check(workspace, variants)
    assert [line.split(": ", 1)[1] for line in caught.value.what.splitlines()] == [
        "missing",
        f"{text.count(chr(10)) + 1} lines, should be {text.count(chr(10))}",
    ]


def test_dockerfiles_without_a_variant_are_refused_and_removed(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace = own_docker(workspace, tmp_path)
    mkl, blis = load_variant(workspace, "mkl"), load_variant(workspace, "blis")
    dockerfile.write(workspace, [mkl, blis])
    with pytest.raises(StaleError, match="blis/Dockerfile: its variant no longer exists"):
        dockerfile.check(workspace, [mkl])
    dockerfile.write(workspace, [mkl])
    dockerfile.check(workspace, [mkl])
    assert not (workspace.docker / "theano-1.0.5/blis").exists()
