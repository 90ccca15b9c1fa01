"""Threads that share a batch: what is played does not depend on how many there are, nor on which comes first."""

import copy
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from gin_env import IllegalAction, VectorEnv
from gin_env.envs import lanes, stepping
from gin_env.envs.threads import work_together
from tests.envs.player import same
from tests.envs.test_vector import MIXED, at_random, bytes_of, play, play_on

OPPONENTS = pytest.mark.parametrize("opponent", [None, "greedy", MIXED], ids=["both seats", "compiled", "list"])


@pytest.fixture
def shared_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even the smallest batch is shared."""
    monkeypatch.setattr(lanes, "LANES_A_THREAD", 1)


def played(threads: int, games: int = 40, steps: int = 150, **settings: Any) -> list[Any]:
    return play(VectorEnv(games, seed=100, num_threads=threads, **settings), steps, at_random)


@OPPONENTS
def test_the_same_bytes_for_1_64_and_1024_games_and_1_and_2_threads(opponent: Any) -> None:
    environments = {
        (games, threads): VectorEnv(games, opponent=opponent, seed=100, num_threads=threads)
        for games in (1, 64, 1024)
        for threads in (1, 2)
    }
    assert environments[1024, 2]._lanes._threads == 2
    returned: dict[Any, Any] = {key: environment.reset() for key, environment in environments.items()}
    for _ in range(40):
        most = returned[1024, 1]
        assert same(returned[1024, 2], most)
        for games, threads in environments:
            alike = zip(without_finals_of(returned[games, threads]), without_finals_of(most), strict=True)
            assert all(same(few, many[:games]) for few, many in alike)
        records = bytes_of(environments[1024, 1])
        assert all(records.startswith(bytes_of(environment)) for environment in environments.values())
        actions = at_random(most[0], most[-1]["action_mask"])
        returned = {key: environment.step(actions[: key[0]]) for key, environment in environments.items()}


def without_finals_of(returned: tuple[Any, ...]) -> list[Any]:
    """The arrays over all games of what a reset or step returned."""
    *rest, infos = returned
    return [*rest, infos["action_mask"], infos["seat"]]


@OPPONENTS
@pytest.mark.parametrize("copied", [True, False], ids=["copies", "in place"])
@pytest.mark.usefixtures("shared_small")
def test_threads_play_what_one_plays(opponent: Any, copied: bool) -> None:
    one = played(1, opponent=opponent, copy=copied)
    assert sum("final_info" in infos for *_, infos in one) > 10
    for threads in (2, 3, 40, 41):
        assert same(played(threads, opponent=opponent, copy=copied), one)


@pytest.mark.usefixtures("shared_small")
def test_with_threads_the_first_illegal_action_is_named_and_nothing_changes() -> None:
    environment = VectorEnv(40, opponent=None, seed=1, num_threads=3)
    observations, infos = environment.reset()
    actions = at_random(observations, infos["action_mask"])
    before, shown = bytes_of(environment), environment.action_masks()
    for lane in (0, 11, 39):
        bad = actions.copy()
        bad[lane:] = 107
        with pytest.raises(IllegalAction, match=rf"action 107 .* in game {lane}\b"):
            environment.step(bad)
        assert bytes_of(environment) == before
        assert same(environment.action_masks(), shown)
    environment.step(actions)


@pytest.mark.usefixtures("shared_small")
def test_with_threads_forfeits_stay_in_their_games() -> None:
    def some_illegal(observations: Any, masks: Any) -> Any:
        return np.where(at_random(observations, np.ones_like(masks)) < 4, 107, at_random(observations, masks))

    one, two = (
        play(VectorEnv(40, seed=1, num_threads=threads, illegal_action="forfeit"), 60, some_illegal) for threads in (1, 2)
    )
    assert same(one, two)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda environment: pickle.loads(pickle.dumps(environment))])
@pytest.mark.usefixtures("shared_small")
def test_copies_with_threads_continue_alike_and_apart(copied: Callable[[VectorEnv], VectorEnv]) -> None:
    environment = VectorEnv(40, seed=2, num_threads=2, copy=False)
    last = play(environment, 30, at_random)[-1]
    twin = copied(environment)
    rest = play_on(environment, last, 30, at_random)
    assert same(play_on(twin, last, 30, at_random), rest)


def digest_of(environment: VectorEnv, last: Any, steps: int) -> str:
    play_on(environment, last, steps, at_random)
    return sha256(bytes_of(environment)).hexdigest()


def _tell(environment: VectorEnv, last: Any, connection: Any) -> None:
    connection.send(digest_of(environment, last, 20))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this platform")
@pytest.mark.usefixtures("shared_small")
def test_a_forked_process_goes_on_with_threads_of_its_own() -> None:
    environment = VectorEnv(40, seed=3, num_threads=2)
    last = play(environment, 5, at_random)[-1]
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe()
    child = fork.Process(target=_tell, args=(environment, last, there))
    child.start()
    assert here.poll(60), "the forked process waits for threads that it does not have"
    digest = here.recv()
    child.join()
    assert digest == digest_of(environment, last, 20)


@pytest.mark.usefixtures("shared_small")
def test_environments_with_threads_may_be_stepped_in_several_threads() -> None:
    expected = [played(1, opponent="greedy"), played(1, opponent=None)]
    results: dict[int, Any] = {}

    def run(i: int) -> None:
        results[i] = played(2 + i // 2, opponent=("greedy", None)[i % 2])

    runs = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in runs:
        thread.start()
    for thread in runs:
        thread.join()
    assert all(same(results[i], expected[i % 2]) for i in range(4))


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.usefixtures("shared_small")
def test_an_interrupted_step_is_finished_all_the_same(when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment, other = (VectorEnv(40, opponent=None, seed=4, num_threads=2, copy=False) for _ in range(2))
    observations, infos = environment.reset()
    actions = at_random(observations, infos["action_mask"])
    other.reset()
    other.step(actions)
    step = stepping.step
    calls: list[int] = []

    def interrupted(*arguments: Any) -> None:
        thread = arguments[5]
        if when == "after" or thread > 0 or calls:
            step(*arguments)
        if thread == 0:
            calls.append(thread)
            if len(calls) == 1:
                raise KeyboardInterrupt

    monkeypatch.setattr(stepping, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        environment.step(actions)
    monkeypatch.undo()
    assert calls == [0, 0]
    assert bytes_of(environment) == bytes_of(other)
    actions = at_random(other._lanes.observations, other.action_masks())
    assert same(environment.step(actions), other.step(actions))


def test_a_thread_that_comes_late_finds_nothing_left() -> None:
    environment = VectorEnv(8, opponent=None, seed=5, copy=False)
    observations, infos = environment.reset()
    actions = at_random(observations, infos["action_mask"])
    game = environment._lanes
    progress = stepping.no_progress(4)
    stages = stepping.CHECK | stepping.ACT | stepping.SETTLE | stepping.OBSERVE
    for thread in (0, 1, 1):
        if thread == 1:
            progress[stepping.LEFT] = 1
        arguments = (stages, actions, game._opponents, game._settings, game._scratch[0], thread, 2, progress)
        stepping.step(*arguments, *game._arrays)
        if thread == 0:
            after = bytes_of(environment), observations.copy()
        assert same((bytes_of(environment), observations), after)


def test_work_together_calls_each_thread_once() -> None:
    begun: list[int] = []
    arrived = threading.Barrier(3)

    def work(thread: int) -> None:
        begun.append(thread)
        arrived.wait(60)

    work_together(work, 3)
    assert sorted(begun) == [0, 1, 2]
