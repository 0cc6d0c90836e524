"""What makes the first step come sooner, on real Theano: right graphs and values, and in use."""

import json
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from integration import programs
from integration.conftest import Prefix
from integration.programs import called

DRIVER = Path(__file__).with_name("first_step_driver.py")
RANDOM = Path(__file__).with_name("random_scans_driver.py")
STALE = Path(__file__).with_name("stale_graph_driver.py")
# Compiles two functions, then says by which options their modules were compiled.
COMPILING = """
import json, sys
import numpy, theano, theano.tensor as T
from theano.gof import cmodule
import theano_stacks_compiler as compiler

x = T.vector("x")
values = [float(theano.function([x], T.sum(y))(numpy.ones(3))) for y in (x + 2, x * x * 3, x / 4)]
(options, words), = compiler.HEADERS.known.items()
folders = list(options[1]) + cmodule.std_include_dirs()
print(json.dumps({"values": values, "words": options[0] + tuple(words), "folders": folders}))
"""

# Counts the modules that begin to compile in the background, and those that Theano takes.
BEGINNING = """
import theano, theano.tensor as T
from theano_stacks_compiler import BACKGROUND

counts = [0, 0]
begin, take = BACKGROUND.begin, BACKGROUND.take
def count_begin(*arguments):
    counts[0] += 1
    begin(*arguments)
def count_take(*arguments):
    taken = take(*arguments)
    counts[1] += taken
    return taken
BACKGROUND.begin, BACKGROUND.take = count_begin, count_take

x = T.matrix("x")
for outputs in (T.exp(x), [T.tanh(x.dot(x) + 1).sum(), x / 3]):
    theano.function([x], outputs)
    print(*counts)
"""


def run(
    place: Path, folder: Path, *words: str | Path, flags: str = "cxx=", **variables: str
) -> subprocess.CompletedProcess[str]:
    fixed = {"THEANO_FLAGS": f"base_compiledir={folder},{flags}", "OPENBLAS_NUM_THREADS": "1"}
    done = programs.run(place, *words, cwd=folder, **{**fixed, **variables})
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(params=["theano-1.0.5", "theano-0.8.2"])
def place(request: pytest.FixtureRequest, prefix: Prefix) -> Path:
    return prefix(request.param, "openblas")


def driven(
    place: Path, folder: Path, *words: str, driver: Path = DRIVER, **variables: str
) -> dict[str, Any]:
    """Return what a driver prints as JSON, and its messages."""
    done = run(place, folder, driver, *words, **variables)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**found, "message": done.stderr}


def flat(values: Any) -> list[float]:
    """Return the numbers of nested lists, each list begun with its length."""
    if not isinstance(values, list):
        return [values]
    return [float(len(values)), *(number for each in values for number in flat(each))]


def test_stored_graph_is_the_one_that_was_optimised(place: Path, tmp_path: Path) -> None:
    """Switched off, Theano is as in a Python that reads no .pth file and knows no accelerator."""
    (site_packages,) = place.glob("lib/python*/site-packages")
    variables = {"PYTHONPATH": str(site_packages), "THEANORC": str(place / "etc/theanorc")}
    variables["PATH"] = f"{place / 'bin'}:{os.environ['PATH']}"
    bare = json.loads(run(place, tmp_path, "-S", DRIVER, **variables).stdout.splitlines()[-1])
    off = driven(place, tmp_path, THEANO_STACKS_QUICK="0")
    # What the .pth file imports only looks at the variable.
    assert (bare["ours"], off["ours"]) == ([], ["theano_stacks_quick"])
    assert off["graphs"] == bare["graphs"] and off["values"] == bare["values"]
    assert not list(tmp_path.rglob("theano_stacks_graphs"))

    first, second = (driven(place, tmp_path) for _ in range(2))
    count = first["found"]["kept"]
    assert count >= 5 and first["found"] == {"hits": 0, "kept": count, "not kept": 0}
    assert second["found"] == {"hits": count, "kept": 0, "not kept": 0}
    assert first["values"] == second["values"] and first["graphs"] == second["graphs"]
    plain = flat(off["values"])
    assert flat(first["values"]) == pytest.approx(plain, rel=1e-10, abs=1e-12)


# A mode asks the databases of optimisations for a tag; the optimiser numbers what it uses.
MODES = """
import json
import theano
import theano.tensor as T
import theano_stacks_cache

x = T.matrix()
modes = [theano.compile.get_default_mode()] * 3
modes[1] = modes[1].excluding("fusion")
for number, mode in enumerate(modes):
    theano.function([x], T.tanh(x) + number, mode=mode)
print(json.dumps(theano_stacks_cache.found))
"""


def test_graphs_of_several_modes_are_found(place: Path, tmp_path: Path) -> None:
    starts = [json.loads(run(place, tmp_path, "-c", MODES).stdout) for _ in range(2)]
    assert starts == [{"hits": 0, "kept": 3, "not kept": 0}, {"hits": 3, "kept": 0, "not kept": 0}]


def test_random_scans_compute_what_they_do_without_the_accelerator(
    place: Path, tmp_path: Path
) -> None:
    words = ("0", "8")
    plain = driven(place, tmp_path, *words, driver=RANDOM, THEANO_STACKS_QUICK="0")
    first, second = (driven(place, tmp_path, *words, driver=RANDOM) for _ in range(2))
    assert second["found"]["hits"] == first["found"]["kept"] >= 8
    assert second["results"] == first["results"]
    for one, other in zip(first["results"], plain["results"], strict=True):
        assert flat(one["values"]) == pytest.approx(flat(other["values"]), rel=1e-9, abs=1e-12)


def test_stored_graph_of_another_value_is_not_taken(place: Path, tmp_path: Path) -> None:
    """What decides the result is not in the graph, and the program's text is the same."""
    for number in (2.0, 3.0):
        done = run(place, tmp_path, STALE, str(number))
        found = json.loads(done.stdout.splitlines()[-1])
        expected = {name: [[0.0, number, 2 * number], 0] for name in found}
        # The constant, which the optimiser computes, is multiplied twice, and their sum once more.
        expected["patch"] = [[number * (number**2 + x) for x in range(3)], 0]
        assert found == expected and len(found) == 9


def test_what_was_kept_of_another_program_or_is_not_whole_is_not_used(
    prefix: Prefix, tmp_path: Path
) -> None:
    place = prefix("theano-1.0.5", "openblas")
    first = driven(place, tmp_path)
    stored = list(tmp_path.rglob("theano_stacks_graphs/*"))
    for path in stored:
        path.write_bytes(path.read_bytes()[:-100])
    torn = driven(place, tmp_path)
    assert torn["found"] == first["found"] and torn["values"] == first["values"]
    assert torn["message"].count("is removed: the file is damaged") == len(stored)
    other = driven(place, tmp_path, CONSTANT="0.25")
    assert other["values"][:2] != first["values"][:2]
    # The constant is in the first graph and in the second.
    assert other["found"] == {"hits": first["found"]["kept"] - 2, "kept": 2, "not kept": 0}


def test_processes_at_once_store_the_same_graphs(prefix: Prefix, tmp_path: Path) -> None:
    place = prefix("theano-1.0.5", "openblas")
    with ThreadPoolExecutor() as pool:
        starts = list(pool.map(lambda _: driven(place, tmp_path), range(3)))
    assert all(start["values"] == starts[0]["values"] for start in starts)
    assert all("is removed" not in start["message"] for start in starts)
    found = driven(place, tmp_path)["found"]
    assert found["hits"] == sum(starts[0]["found"].values()) and found["kept"] == 0


def test_the_precompiled_header_is_what_the_compiler_reads(place: Path, tmp_path: Path) -> None:
    done = run(place, tmp_path, "-c", COMPILING, flags="floatX=float64")
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["values"] == [9.0, 9.0, 0.75]
    header = found["words"][-1]
    assert Path(header + ".gch").is_file()
    source = tmp_path / "empty.cpp"
    source.write_text("")
    words = [*found["words"], *(f"-I{folder}" for folder in found["folders"] if folder)]
    command = [place / "bin/g++", "-g", "-fvisibility=hidden", *words, "-H", "-Winvalid-pch"]
    done = called([*command, "-fsyntax-only", source])
    assert done.returncode == 0 and f"! {header}.gch" in done.stderr
    done = called([*command, "-O0", "-mno-sse3", "-fsyntax-only", source])
    assert done.returncode == 0
    assert f"! {header}.gch" not in done.stderr, "another machine's header must not be taken"


# Prints what functions compute, and by which of Theano's two ways to run C code an error comes.
LINKING = """
import json
import numpy, theano, theano.tensor as T
import theano_stacks_links

x, values = T.vector("x"), []
for linker in ("cvm", "c|py"):
    function = theano.function([x], [(T.exp(x) * x).sum(), 2 * x[3]], mode=theano.Mode(linker))
    values += [float(each) for each in function(numpy.arange(4.0))]
    try:
        function(numpy.zeros(2))
    except IndexError as error:
        values.append(str(error).splitlines()[0])
print(json.dumps({"values": values, "links": theano_stacks_links.found}))
"""


def test_next_start_loads_the_modules_of_a_stored_graph(place: Path, tmp_path: Path) -> None:
    flags = "floatX=float64"

    def start() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(run(place, tmp_path, "-c", LINKING, flags=flags).stdout)
        return found

    first, second = start(), start()
    # Both functions have one graph, so that the second one takes the modules of the first.
    assert second["links"]["hits"] > first["links"]["hits"] > 0
    assert sum(second["links"].values()) == sum(first["links"].values())
    # Theano 1.0's two linkers let different nodes keep arrays, and the file has the last one's.
    assert place.parent.name == "theano-1.0.5" or second["links"]["named"] == 0
    assert len(first["values"]) == 6 and second["values"] == first["values"]
    # A person removes modules, but no graphs.
    for folder in tmp_path.glob("compiledir*/tmp*"):
        shutil.rmtree(folder)
    third = start()
    assert third["links"] == first["links"] and third["values"] == first["values"]


def test_no_module_is_compiled_twice(place: Path, tmp_path: Path) -> None:
    code = "from __future__ import print_function\n" + BEGINNING
    done = run(place, tmp_path, "-c", code, flags="floatX=float64")
    single, several = (line.split() for line in done.stdout.splitlines())
    assert single == ["0", "0"], "Theano compiles it at once"
    assert several[0] == several[1] and int(several[0]) > 2
