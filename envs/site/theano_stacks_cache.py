"""Keeps optimised graphs, so that the next start of a program has not to optimise them again.

    import theano_stacks_cache  # before the first theano.function

A graph is looked up by a hash of all that decides what Theano makes of it: its operations with
what is in them, types and constants, the mode, Theano's settings, the versions, the optimisations
that are registered, and the text of every module outside of Theano and NumPy that any of these
come from. Not by the values of shared variables, which Theano does not look at. Where something
cannot be told by its content, or a file is not whole, the graph is optimised as ever.

The graphs lie in the compile folder, beside the compiled modules. Like those they are the code of
whoever may write there.
"""

import errno
import hashlib
import logging
import os
import pickle
import sys
import tempfile

import numpy
import theano
from theano import configparser
from theano.compile import function_module
from theano.compile import mode as modes
from theano.gof import DestroyHandler

from theano_stacks_graphs import Description, UnknownError, packed, unpacked

FOLDER = "theano_stacks_graphs"
LOGGER = logging.getLogger("theano_stacks_cache")
# They say where things lie and what is printed or counted, not what a graph becomes.
NO_MATTER = ("base_compiledir", "compiledir", "compiledir_format", "cache_optimizations")
NO_MATTER_BEGINNINGS = ("profil", "traceback", "compile.", "cmodule", "print_", "exception_")
TRUSTED = ("theano", "numpy", "scipy")
BUILT_IN = ("builtins", "__builtin__")
# How often graphs were found, kept, and optimised without being kept.
found = {"hits": 0, "kept": 0, "not kept": 0}


class Files(object):
    """The hashes of the modules that a graph relies on."""

    def __init__(self):
        self.known = {}

    def of(self, name):
        """Return the hash of a module's file; raises UnknownError where it has none."""
        if name not in self.known:
            self.known[name] = _hash_of_module(name)
        return self.known[name]


def _hash_of_module(name):
    if name.split(".")[0] in TRUSTED + BUILT_IN:
        return ""
    path = getattr(sys.modules.get(name), "__file__", None)
    if path is None:
        raise UnknownError("the module %s has no file" % name)
    if path.endswith((".pyc", ".pyo")):
        path = path[:-1]
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


FILES = Files()


def key_of(maker):
    """Return the name under which a FunctionMaker's graph is kept, before it is optimised.

    Raises UnknownError where its content cannot be told.
    """
    if theano.config.compute_test_value != "off":
        raise UnknownError("test values are computed")
    mode = modes.get_mode(maker.mode_asked_for)
    if type(mode) is not modes.Mode:
        # Those that check each value go by marks on variables, which are not kept.
        raise UnknownError("the mode is a %s" % type(mode).__name__)
    fgraph, description = maker.fgraph, Description()
    description.add(sys.version, theano.__version__, numpy.__version__, theano.config.compiledir)
    for name in ("theano_stacks_cache", "theano_stacks_graphs", "theano_stacks_scan"):
        if name in sys.modules:
            description.add(name, FILES.of(name))
    description.value(_settings())
    REGISTERED.describe(description)
    description.value(mode.provided_optimizer)
    description.graph(fgraph.inputs, fgraph.outputs)
    description.add("updates", sorted(fgraph.update_mapping.items()))
    for feature in fgraph._features:
        description.add(type(feature).__name__)
        if isinstance(feature, function_module.Supervisor):
            description.add([fgraph.inputs.index(each) for each in feature.protected])
    for name in sorted(description.modules):
        description.add(name, FILES.of(name))
    return description.hash.hexdigest()


def _settings():
    settings = {}
    for each in configparser._config_var_list:
        name = each.fullname
        if name not in NO_MATTER and not name.startswith(NO_MATTER_BEGINNINGS):
            settings[name] = str(each.__get__(True, None))
    return settings


class Registered(object):
    """The optimisations that are registered; looked through anew where there are more."""

    def __init__(self):
        self.count, self.known = None, None

    def describe(self, description):
        """Take in names and classes; a function stands for the optimisation made of it."""
        count = _count(modes.optdb)
        if count != self.count:
            self.known = Description()
            self.known.value(_optimisations(modes.optdb))
            self.count = count
        description.add(self.known.hash.hexdigest())
        description.modules |= self.known.modules


REGISTERED = Registered()


def _count(database):
    kept = [each for registered in database.__db__.values() for each in registered]
    return len(kept) + sum(_count(each) for each in kept if hasattr(each, "__db__"))


def _optimisations(database):
    return {
        name: [_optimisation(each) for each in registered]
        for name, registered in database.__db__.items()
    }


def _optimisation(each):
    if hasattr(each, "__db__"):
        return _optimisations(each)
    function = getattr(each, "fn", None)
    return function if hasattr(function, "__module__") else type(each)


def optimize_graph_with_cache(self, optimizer, inputs, outputs):
    """Stand for FunctionMaker's own, which is not finished: optimise, or take what was kept."""
    try:
        path = os.path.join(str(theano.config.compiledir), FOLDER, key_of(self) + ".pkl")
    except UnknownError as error:
        LOGGER.info("not kept: %s", error)
        found["not kept"] += 1
        return optimizer(self.fgraph)
    if _take(self.fgraph, path):
        found["hits"] += 1
        return None
    profile = optimizer(self.fgraph)
    found["kept" if _keep(self.fgraph, path) else "not kept"] += 1
    return profile


def _take(fgraph, path):
    """Put the graph that was kept into the place of one that is not optimised; say if it worked."""
    try:
        with open(path, "rb") as file:
            told, content = file.read(64), file.read()
        if hashlib.sha256(content).hexdigest().encode("ascii") != told:
            raise ValueError("it is not whole")
        destroys, kept = pickle.loads(content)  # noqa: S301 - beside code that is loaded as well
        fresh = unpacked(fgraph.inputs, kept)
    except EnvironmentError as error:
        if error.errno != errno.ENOENT:
            LOGGER.warning("%s cannot be read: %s", path, error)
        return False
    except Exception as error:
        LOGGER.warning("%s is of no use: %r", path, error)
        return False
    before = list(fgraph.outputs)
    try:
        _set_outputs(fgraph, fresh)
        if destroys and not hasattr(fgraph, "destroyers"):
            fgraph.attach_feature(DestroyHandler())
        fgraph.execute_callbacks("validate")
    except Exception as error:
        LOGGER.warning("%s does not fit: %r", path, error)
        _set_outputs(fgraph, before)
        return False
    return True


def _set_outputs(fgraph, outputs):
    for place, output in enumerate(outputs):
        fgraph.change_input("output", place, output, reason="theano_stacks_cache")


def _keep(fgraph, path):
    """Keep an optimised graph; say if it could be kept."""
    destroys = hasattr(fgraph, "destroyers")
    try:
        kept = packed(fgraph.inputs, fgraph.outputs)
        content = pickle.dumps((destroys, kept), 2)
    except Exception as error:
        LOGGER.info("not kept: %r", error)
        return False
    part = None
    try:
        if not os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(path))
        handle, part = tempfile.mkstemp(dir=os.path.dirname(path))
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(content).hexdigest().encode("ascii") + content)
        os.rename(part, path)
    except EnvironmentError as error:
        LOGGER.warning("%s cannot be written: %s", path, error)
        if part is not None and os.path.exists(part):
            os.remove(part)
        return False
    return True


def _remembering_mode(make):
    def __init__(self, inputs, outputs, mode=None, *positional, **named):
        self.mode_asked_for = mode
        make(self, inputs, outputs, mode, *positional, **named)

    return __init__


def _use():
    maker = function_module.FunctionMaker
    maker.__init__ = _remembering_mode(maker.__init__)
    maker.optimize_graph_with_cache = optimize_graph_with_cache
    theano.config.cache_optimizations = True


_use()
