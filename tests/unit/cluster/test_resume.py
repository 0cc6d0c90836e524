from __future__ import annotations

from stacks.cluster.messages import Answer
from stacks.cluster.resume import open_session
from stacks.core.workspace import Workspace
from unit.helpers.benching import BASE, result, runs
from unit.helpers.cluster import ORDER


def test_a_session_keeps_answers_until_it_is_finished(own_workspace: Workspace) -> None:
    first = open_session(own_workspace, ORDER)
    first.save("theano-1.0.5/mkl", "a-1", Answer(result=result(runs(BASE, [1.0] * 5), BASE)))
    stored = open_session(own_workspace, ORDER).load("theano-1.0.5/mkl")
    assert stored and stored.worker == "a-1" and stored.answer.result
    assert first.load("theano-1.0.5/blis") is None
    other = ORDER.model_copy(update={"files": {"a": "2"}})
    assert open_session(own_workspace, other).load("theano-1.0.5/mkl") is None
    [path] = first.folder.iterdir()
    path.write_bytes(path.read_bytes()[:-9])
    assert first.load("theano-1.0.5/mkl") is None
    first.remove()
    assert not first.folder.exists()
