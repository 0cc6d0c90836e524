"""Remember which compiled module computes each node of a stored graph.

Theano names the module of each node anew in each start: it copies the node into a graph of its own,
asks every operation and type for its options and versions, and compares the result with the names
that it reads from every file of its compile folder. Here, a start that made a stored graph's
modules, or found them by their names, writes down which node has which. The next start loads them.

The file lies beside the graph (theano_stacks_cache). Its name is the hash of the graph's own and of
all else that decides a module. Where a module is missing, or a node may keep other arrays than
then, Theano finds the module by its name as ever.
"""

import hashlib
import logging
import os

import theano
from theano import configparser
from theano.gof import cc, cmodule, fg, graph, op, utils

from theano_stacks_packs import pickle

LOGGER = logging.getLogger("theano.stacks_links")
MAKE = op.Op.make_c_thunk
NAMED = cmodule.ModuleCache.module_from_key
# Numbers of nodes whose module was known from an earlier start, and of those whose was not.
found = {"hits": 0, "named": 0}
# Of all settings that are part of a module's name; Theano 1.0 calls it otherwise.
CONFIGURATION = getattr(configparser, "get_config_md5", None) or configparser.get_config_hash
# The files of the modules that were named since the list was emptied; None of one that the next
# start must name again.
_named = []


class Links(object):
    """The modules of a graph's nodes, as far as they are known."""

    def __init__(self, store, key, nodes):
        """Take the store and the name of a graph, and its nodes in the order of the stored ones."""
        self.store, self.key, self.nodes = store, _name(key), nodes
        self.numbers = {id(node): number for number, node in enumerate(nodes)}
        self.changed = False
        try:
            self.modules, self.known = pickle.loads(store.take(self.key) or EMPTY)
        except Exception as error:
            store.drop(self.key, "it cannot be used: %r" % error)
            self.modules, self.known = [], {}
        missing = {i for i, each in enumerate(self.modules) if not os.path.isfile(_path(each))}
        self.known = {k: each for k, each in self.known.items() if each[1] not in missing}

    def module(self, node, recycled):
        """Return the file of a node's module, None where it is not known.

        Raises MethodNotDefined, as Theano does, for an operation without C code.
        """
        flags, place = self.known.get(self.numbers.get(id(node)), (None, 0))
        if flags != recycled:
            return None
        if place is None:
            raise utils.MethodNotDefined("c_code")
        return _path(self.modules[place])

    def has(self, node):
        """Return whether a node's module need not be named."""
        return self.numbers.get(id(node)) in self.known

    def add(self, node, recycled, module):
        """Remember the file of a node's module, None for an operation without C code."""
        if id(node) not in self.numbers:
            return
        if module is not None:
            module = os.path.relpath(module, _path(""))
            if module not in self.modules:
                self.modules.append(module)
            module = self.modules.index(module)
        self.known[self.numbers[id(node)]] = recycled, module
        self.changed = True

    def keep(self):
        """Write what was added since it was read."""
        if self.changed:
            self.store.keep(self.key, pickle.dumps((self.modules, self.known), 2))


EMPTY = pickle.dumps(([], {}), 2)


def _path(module):
    return os.path.join(str(theano.config.compiledir), module)


def _name(key):
    words = [key, "links", CONFIGURATION(), cmodule.gcc_version()]
    every = configparser._config_var_list
    settings = [each for each in every if each.fullname.startswith(("compile.", "cmodule", "gcc."))]
    words += ["%s=%s" % (each.fullname, each.__get__(True, None)) for each in settings]
    return hashlib.sha256(repr(words).encode("utf-8")).hexdigest()


def of_node(node):
    """Return the Links of the graph that a node is in, None where they are not kept."""
    return getattr(getattr(node, "fgraph", None), "theano_stacks_links", None)


class LinkedThunk(cc._CThunk):
    """A node's compiled code; the parts of its source are named only if it fails."""

    def __init__(self, cthunk, errors, node, recycled, module):
        words = (cthunk, None, None, errors) + ((module,) if _KNOWS_MODULE else ())
        cc._CThunk.__init__(self, *words)
        self.node, self.recycled = node, recycled

    def find_task(self, failure_code):
        """Return the part of the source that failed."""
        inner, recycled = _single(self.node, self.recycled)
        linker = cc.CLinker().accept(inner, no_recycling=recycled)
        self.init_tasks, self.tasks = linker.get_init_tasks()
        self.nodes = linker.node_order
        return cc._CThunk.find_task(self, failure_code)


_KNOWS_MODULE = "module" in cc._CThunk.__init__.__code__.co_varnames


def _single(node, recycled):
    inner = fg.FunctionGraph(node.inputs, node.outputs)
    return inner, [each for each, flag in zip(inner.outputs, recycled) if flag]


def make_c_thunk(self, node, storage_map, compute_map, no_recycling):
    """Replace Op.make_c_thunk: same arguments, same result."""
    links = of_node(node)
    if links is None:
        return MAKE(self, node, storage_map, compute_map, no_recycling)
    recycled = tuple(each in no_recycling for each in node.outputs)
    module = _loaded(links.module(node, recycled))
    if module is not None:
        found["hits"] += 1
        return _thunk(node, storage_map, compute_map, recycled, module)
    found["named"] += 1
    del _named[:]
    try:
        thunk = MAKE(self, node, storage_map, compute_map, no_recycling)
    except utils.MethodNotDefined:
        links.add(node, recycled, None)
        raise
    if len(_named) == 1 and _named[0] and node.run_params() is graph.NoParams:
        links.add(node, recycled, _named[0])
    return thunk


def _loaded(path):
    try:
        return None if path is None else cmodule.dlimport(path)
    except (ImportError, EnvironmentError) as error:
        LOGGER.info("named anew: %s", error)
        return None


def _thunk(node, storage_map, compute_map, recycled, module):
    inputs = [storage_map[each] for each in node.inputs]
    outputs = [storage_map[each] for each in node.outputs]
    # An input that the node takes twice is one input of the module.
    distinct = [place for place, each in enumerate(node.inputs) if node.inputs.index(each) == place]
    errors = [None, None, None]
    cthunk = module.instantiate(errors, *[inputs[place] for place in distinct] + outputs)
    thunk = LinkedThunk(cthunk, errors, node, recycled, module)

    def call():
        thunk()
        for each in node.outputs:
            compute_map[each][0] = True

    call.thunk, call.cthunk = thunk, cthunk
    call.inputs, call.outputs, call.lazy = inputs, outputs, False
    return call


def module_from_key(self, key, lnk=None, keep_lock=False):
    """Replace ModuleCache.module_from_key: same arguments, same result, which is noted."""
    module = NAMED(self, key, lnk, keep_lock)
    is_plain = key[0] and isinstance(lnk, cc.CLinker) and lnk.c_compiler() is cmodule.GCC_compiler
    _named.append(module.__file__ if is_plain else None)
    return module


def _fix():
    op.Op.make_c_thunk = make_c_thunk
    cmodule.ModuleCache.module_from_key = module_from_key


_fix()
