"""Has a module that another environment compiled from the same inputs taken, not compiled again.

theano_stacks_inputs says what a module is made from, theano_stacks_modules keeps it. What cannot be
told, and any fault, leads to the compiler.
"""

import logging
import os
import sys

import theano
from theano.gof import cmodule

import theano_stacks_modules as modules
from theano_stacks_inputs import Inputs, Module, UnknownError

LOGGER = logging.getLogger("theano_stacks_modules")
LISTED = "theano_stacks_files"


class Shared(object):
    """The modules that are shared, as compile_str deals with them."""

    def __init__(self):
        self.begun = False
        self.store = self.inputs = self.code = None

    def key(self, words, hidden=True):
        """Return the name of a module by compile_str's words; None where it is not to be shared."""
        if not self.begun:
            self._begin()
        if self.store is None or theano.config.cmodule.compilation_warning:
            return None
        name, source, _, lib_dirs, libs, options = words
        module = Module(
            name,
            source,
            _include_dirs(words),
            [each for each in lib_dirs if each] + cmodule.std_lib_dirs(),
            list(libs) + cmodule.std_libs(),
            options,
            hidden,
            theano.config.cxx,
            [self.code, bool(theano.config.cmodule.remove_gxx_opt)],
        )
        try:
            return self.inputs.key(module)
        except UnknownError as error:
            LOGGER.info("not shared: %s", error)
            return None

    def _begin(self):
        """Look for the folder when the first module is compiled, not in programs without one."""
        self.begun = True
        prefix = getattr(sys, "base_prefix", sys.prefix)
        self.inputs = Inputs(prefix, str(cmodule.gcc_version()), os.environ)
        try:
            # How Theano calls the compiler.
            with open(os.path.splitext(cmodule.__file__)[0] + ".py", "rb") as file:
                self.code = modules.hash_of(file.read())
        except EnvironmentError as error:
            LOGGER.info("not shared: %s", error)
            return
        self.store = modules.chosen(os.environ)

    def has(self, key):
        """Say whether there may be a module of that name."""
        return key is not None and self.store.has(key)

    def take(self, key, words, location):
        """Bring a module's files to their place, as compile_str does; False where there is none."""
        module = self.store.take(key) if key is not None else None
        if module is None:
            return False
        name, source = words[:2]
        try:
            with open(os.path.join(location, "mod.cpp"), "w") as file:
                file.write(source if source.endswith("\n") else source + "\n")
            path = os.path.join(location, "%s.%s" % (name, cmodule.get_lib_extension()))
            # A file that stood there may be in use: it must not change under its users.
            handle = os.open(path + ".part", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o777)
            with os.fdopen(handle, "wb") as file:
                file.write(module)
            os.rename(path + ".part", path)
        except EnvironmentError as error:
            LOGGER.info("not taken: %s", error)
            return False
        modules.found["hits"] += 1
        return True

    def maps(self, key):
        """Return the options that keep the environment's path out of a module that is shared."""
        return self.inputs.maps() if key is not None else ()

    def place(self, key, name, location):
        """Return the options for a module's own place, and for the list of what is read for it."""
        if key is None:
            return ()
        listed = os.path.join(location, LISTED)
        return ("-MD", "-MF", listed, "-fmacro-prefix-map=%s=%s" % (location, name))

    def keep(self, key, words, location, header):
        """Keep a module that was compiled; `header` is the precompiled one's path or None."""
        if self.store is None:
            return
        if key is None:
            modules.found["not kept"] += 1
            return
        listed = os.path.join(location, LISTED)
        path = os.path.join(location, "%s.%s" % (words[0], cmodule.get_lib_extension()))
        kept = False
        try:
            also = [os.path.join(location, "mod.cpp")]
            also += [header, header + ".gch"] if header else []
            known = self.inputs.known(listed, _include_dirs(words), also)
            os.remove(listed)
            with open(path, "rb") as file:
                content = file.read()
            if known and not self.inputs.bound(content, location):
                kept = self.store.keep(key, content)
            else:
                LOGGER.info("not shared: %s is bound to its place", path)
        except EnvironmentError as error:
            LOGGER.info("not shared: %s", error)
        modules.found["kept" if kept else "not kept"] += 1


def _include_dirs(words):
    return [each for each in words[2] if each] + cmodule.std_include_dirs()


SHARED = Shared()
