"""Every block of commands in the documentation, typed as it is, in order, by a new user in a clone.

A block follows ```` ```sh ````, or is indented by four spaces and begins with a command. A comment
before a block, `<!-- file: NAME -->`, tells that the reader saves it. A block of text after
commands is a part of their output, as are the lines after a command that begins with `$`.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from unit.helpers.environments import add

from integration.bare_machine import copy_checkout
from integration.programs import called
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import default_workspace

BLOCK = re.compile(
    r"(?:^<!-- file: (?P<file>[^\n]+) -->\n)?"
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<content>.*?)^ *```$"
    r"|(?P<indented>(?:^ {4}[^\n]*\n)+)"
    r"|^\|[^|\n]*\| `(?P<cell>\./invoke export [^`\n]*)`",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(
    r"(\$ )?(\./invoke|docker|python|openssl|echo|export|uv|DIR/|/any/|\.venv/|[A-Z_]+=)"
)
NUMBER = re.compile(r"\d[\d.]*")

# {words of a block: why it is not run}. A name of a test is that of one which runs the same.
NOT_RUN = {
    "./invoke test --faults 1000": "takes an hour",
    "./invoke bench --all": "takes hours",
    "measurements/first_step.py": "takes ten minutes",
    "#SBATCH": "needs Slurm: run by hand on one node",
    "apptainer build": "needs Apptainer: run by hand",
    "--channel conda-forge": "needs conda-forge: a gap",
    "module load": "needs Environment Modules: test_exports",
    "gpuarray-cuda": "needs NVIDIA's GPU: test_device has the same on PoCL",
    "--variant gpuarray --": "needs the environment for OpenCL: test_device",
    "--linker jax": "needs JAX",
    "--to docker": "needs an engine: test_image_in_engine",
    "docker run": "needs an engine: test_image_in_engine",
    "docker buildx": "needs BuildKit: test_dockerfile_alone",
    "SHA256  image.sha256": "needs the digest: test_dockerfile_alone",
    "tls://": "needs certificates: test_cluster",
    "TLS__CA_FILE": "needs certificates: test_cluster",
    "tcp://HOST": "needs two machines: test_cluster",
    "./invoke scheduler": "runs until it is stopped: test_cluster",
    "./invoke serve": "runs until it is stopped: test_clients",
    "./invoke publish-channel": "writes gigabytes: test_published",
    "openssl pkeyutl": "needs a published channel: test_vendor",
    "./invoke pin\n": "replaces the pins by those of today: test_bare_machine",
    "./invoke pin --alive": "asks each mirror for each file: test_pinned",
    "aocl-libm": "needs AMD's archive: test_amdlibm",
    "uv tool install": "needs a release: test_installed",
    "../model": "needs a project with tests: test_stack",
    "--all --sources": "writes gigabytes: test_vendor",
}
# What stands for a reader's paths, comments and nine rounds. The last is the test that runs.
ENVIRONMENT = "build/prefixes/theano-1.0.5/openblas"
PLACES = {
    r"/path/to/(your/)?python|/any/(bin/)?python": f"{ENVIRONMENT}/bin/python",
    r"(?m) +# .*$": "",
    r"\bDIR\b": "folder",
    r"/project/me/cache|/usr/local/share": "folder",
    r"/media/usb/": "",
    r"(?m)^python (?=blas)": "python3 ",
    r"compare (?=pip-default)": "compare --rounds 2 ",
    r"(?m)^\./invoke test .*$": "",
}
# What a reader has written.
PROGRAM = "import sys, theano\nprint(theano.__version__, sys.argv[1:])\n"
WRITTEN = {
    "editor": "#!/bin/sh\nexec sed -i 's/^pip: .*/pip: [pymc3==3.11.6]/' \"$1\"\n",
    "old/train.py": PROGRAM,
    "model/train.py": PROGRAM,
    "model/sample.py": (REPOSITORY / "examples/pymc3-3.11/sample.py").read_text(),
    "../clone/sweep.py": PROGRAM,
    "../clone/rates.txt": "0.1\n0.01\n",
}


@dataclass(frozen=True)
class Block:
    """A block of a page. file: the name to save it by. output: lines that its commands print."""

    page: Path
    number: int
    content: str
    file: str = ""
    output: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Why it is not run, or nothing."""
        return next((why for words, why in NOT_RUN.items() if words in self.content), "")


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page in order; text that follows no commands is none."""
    found: list[Block] = []
    for match in BLOCK.finditer(page.read_text()):
        number = len(found) + 1
        if indented := match["indented"]:
            content = re.sub(r"^ {4}", "", indented, flags=re.MULTILINE)
            first, *rest = content.splitlines()
            if first.startswith("$ "):
                found.append(Block(page, number, f"{first[2:]} || true\n", output=tuple(rest)))
            elif COMMAND.match(content):
                found.append(Block(page, number, content))
            continue
        if match["cell"]:
            found.append(Block(page, number, match["cell"] + "\n"))
            continue
        content = re.sub(rf"^{match['indent']}", "", match["content"], flags=re.MULTILINE)
        if match["language"] == "text":
            commands = found.pop()
            output = (*commands.output, *content.splitlines())
            found.append(replace(commands, output=output))
        elif match["file"] or match["language"] == "sh":
            found.append(Block(page, number, content, match["file"] or ""))
    return found


def missing(lines: tuple[str, ...], output: str) -> list[str]:
    """Return those of the lines that are in no line of the output, whatever their numbers are.

    What follows a semicolon was measured, and may be too noisy.
    """
    printed = [_plain(line) for line in output.splitlines()]
    return [line for line in lines if not any(_plain(line) in one for one in printed)]


def _plain(line: str) -> str:
    return " ".join(NUMBER.sub("0", line.partition("; ")[0]).split())


DOCS = REPOSITORY / "docs"
PAGES = [
    *(DOCS / "tutorial.md", REPOSITORY / "README.md", *sorted(DOCS.glob("guides/*.md"))),
    *(DOCS / "reference/variants.md", DOCS / "reference/verify.md"),
    *sorted(DOCS.glob("explanation/*.md")),
    *sorted(REPOSITORY.glob("examples/*/README.md")),
]
BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def _name(block: Block) -> str:
    page = block.page.relative_to(REPOSITORY).with_suffix("").as_posix()
    return f"{page.removeprefix('docs/')}:{block.number}"


@dataclass
class Reader:
    """A new user in a clone, and what commands typed there have printed."""

    clone: Path
    typed: dict[str, str] = field(default_factory=dict)

    def type(self, content: str) -> str:
        """Have a shell run commands that must succeed; return what they print.

        What another page has as a block, word for word, is typed once, also where others follow.
        """
        for pattern, place in PLACES.items():
            content = re.sub(pattern, place, content)
        output = ""
        while known := next((each for each in self.typed if content.startswith(each)), ""):
            output, content = output + self.typed[known], content.removeprefix(known)
        if content:
            done = self.run(content)
            print(f"{content}---\n{done.stdout}")
            assert done.returncode == 0
            assert "Traceback" not in done.stdout
            output += done.stdout
            self.typed[content] = done.stdout
        return output

    def run(self, content: str) -> subprocess.CompletedProcess[str]:
        """Run commands with a home of the user's own, and the cache of these tests."""
        home = self.clone.parent / "home"
        variables = {
            **os.environ,
            "HOME": str(home),
            "EDITOR": str(home / "editor"),
            "NO_COLOR": "1",
            "PYTHON": sys.executable,
            "THEANO_STACKS_CACHE": str(default_workspace().cache),
            "XDG_CONFIG_HOME": os.environ.get("XDG_CONFIG_HOME", str(Path.home() / ".config")),
        }
        # As for everybody, compiled modules are shared.
        del variables["THEANO_STACKS_MODULES"]
        words = ["sh", "-eu", "-c", f"exec 2>&1 </dev/null\n{content}"]
        return called(words, cwd=self.clone, env=variables)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Give a reader whose clone has nothing built, next to their home."""
    root = tmp_path_factory.mktemp("reader")
    clone = copy_checkout(root / "clone")
    for name, content in WRITTEN.items():
        add(root / "home", name, content, 0o755)
    return Reader(clone)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, marks=[pytest.mark.examples] if "examples/" in block.content else [])
        for block in BLOCKS
    ],
    ids=_name,
)
def test_commands_do_what_the_page_says(block: Block, reader: Reader) -> None:
    if block.reason:
        pytest.skip(f"not run: {block.reason}")
    if block.file:
        (reader.clone / block.file).write_text(block.content)
        return
    assert missing(block.output, reader.type(block.content)) == []


def test_what_is_not_run_stands_on_a_page_and_has_its_test() -> None:
    assert [words for words in NOT_RUN if not any(words in b.content for b in BLOCKS)] == []
    tests = {path.stem for path in (REPOSITORY / "tests").rglob("test_*.py")}
    assert set(re.findall(r"test_\w+", " ".join(NOT_RUN.values()))) <= tests
