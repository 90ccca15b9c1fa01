"""Others' gin rummy under the nearest rules, each used as fast as its own documentation allows, with random legal actions.

A decision is what a player is asked for; OpenSpiel's chance moves, which the caller has to draw, are not counted.
"""

from __future__ import annotations

import random
from functools import partial
from importlib.util import find_spec

from scripts.measuring.timing import Play, Workload

STEPS = 500  # at a time


def openspiel(observed: bool) -> Play:
    """OpenSpiel's C++ game without knocking; every hand is a copy of one undealt state, its observation's memory reused."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("gin_rummy(knock_card=0)")
    observation = make_observation(game)
    undealt = game.new_initial_state()
    state = undealt.clone()
    uniform = random.Random(0).random

    def play() -> int:
        nonlocal state
        done = 0
        while done < STEPS:
            if state.is_terminal():
                state = undealt.clone()
            legal = state.legal_actions()
            # Every chance move is the draw of a card, all equally likely.
            if not state.is_chance_node():
                if observed:
                    observation.set_from(state, state.current_player())
                done += 1
            state.apply_action(legal[int(uniform() * len(legal))])
        return done

    return play


def rlcard() -> Play:
    """RLCard's Python game without knocking; its step always makes the observation."""
    import rlcard as library

    env = library.make("gin-rummy", {"seed": 0})
    env.game.settings.is_allowed_knock = False
    state, _ = env.reset()
    uniform = random.Random(0).random

    def play() -> int:
        nonlocal state
        for _ in range(STEPS):
            if env.is_over():
                state, _ = env.reset()
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(uniform() * len(legal))])
        return STEPS

    return play


def workloads() -> list[Workload]:
    """Those of the peers that are installed."""
    found = []
    if find_spec("pyspiel"):
        found += [
            Workload("openspiel", "OpenSpiel, no observation", partial(openspiel, False)),
            Workload("openspiel_observation", "OpenSpiel, observation", partial(openspiel, True)),
        ]
    if find_spec("rlcard"):
        found.append(Workload("rlcard", "RLCard, observation", rlcard))
    return found
