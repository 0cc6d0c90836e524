"""Completion of a command line in a shell, which asks `./invoke --complete -- WORDS`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from invoke.parser.context import ParserContext

# Each gives the words up to the cursor, the last of them empty if a blank is before it.
SCRIPTS = {
    "bash": """\
_theano_stacks() {
    local program=${COMP_WORDS[0]/#\\~/$HOME} IFS=$'\\n'
    COMPREPLY=($("$program" --complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _theano_stacks invoke ./invoke theano-stacks
""",
    "zsh": """\
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
_theano_stacks() {
    local program=${(Q)words[1]/#\\~/$HOME}
    local -a found
    found=(${(f)"$($program --complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
    if (( $#found )); then compadd -a found; else _files; fi
}
compdef _theano_stacks invoke ./invoke theano-stacks
""",
    "fish": """\
function __theano_stacks
    set -l words (commandline -opc)
    $words[1] --complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c invoke -c theano-stacks -a '(__theano_stacks)'
""",
}


def candidates(
    words: Sequence[str],
    tasks: Mapping[str, ParserContext],
    values: Mapping[str, Callable[[], Iterable[str]]],
) -> list[str]:
    """Return what the last word of a command line can become, none where a file's name may stand.

    words: those after ./invoke, at least one. tasks: the options of each. values: for an option,
    the function that returns its values.
    """
    # bash has = as a word of its own.
    *before, last = [word for word in words[:-1] if word != "="] + [words[-1].removeprefix("=")]
    if "--" in before:
        return []
    task = next((word for word in before if word in tasks), None)
    name, equals, _ = last.partition("=")
    found: Iterable[str]
    if equals and name in values:
        found = _after(f"{name}=", last, values[name]())
    elif before and before[-1] in values:
        found = _after("", last, values[before[-1]]())
    elif task is None:
        found = tasks
    elif last.startswith("-"):
        found = (flag for flag in (*tasks[task].flag_names(), "--help") if flag.startswith("--"))
    else:
        found = ()
    return sorted(word for word in found if word.startswith(last))


def _after(head: str, last: str, names: Iterable[str]) -> Iterable[str]:
    """Yield names as the value of an option; those before the last comma stay."""
    value = last.removeprefix(head)
    kept = head + value[: value.rfind(",") + 1]
    return (kept + name for name in names)
