"""Section `peers`: random play in neighbouring projects, each as its users would run it, beside ours by turns.

| peer | how it is run |
|---|---|
| PettingZoo | `last`, `action_space.sample(mask)` and `step` of the classic environments |
| RLCard | `env.run` with its `RandomAgent` on every seat |
| OpenSpiel | from Python: `legal_actions`, `chance_outcomes` and `apply_action` of a state |
| pgx | `vmap` and `jit` with `auto_reset` on the CPU, whole rollouts in a `lax.scan`, one XLA device a core (`pmap`) |

Chance (deals) takes time and counts as no decision. pgx has the batch size that is the fastest of several. It runs in a
process of its own, since XLA must be told about devices before it is loaded, and waits while ours is measured.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
import random
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from ...envs.crash.rules import CrashRules
from .batched import TABLES, by_candidates, by_hand, vector_run
from .core import Figure, Plan, Run, Section, by_turns, figure, ratios
from .single import candidate_run

__all__ = ["PEERS", "Peer", "measure_peers"]

_UNIT = "decisions a second"


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A game of another project.

    Attributes:
        project, game: their names.
        modules: what must be installed.
        opened: returns a context in which the game can be played.
        batched: whether it plays many games at once, compiled; it has to be beaten hand by hand.
    """

    project: str
    game: str
    modules: tuple[str, ...]
    opened: Callable[[Plan], Any]
    batched: bool = False

    @property
    def missing(self) -> str | None:
        """A module that is not installed, if any.

        >>> Peer(project="a", game="b", modules=("json", "no_such_module"), opened=lambda plan: None).missing
        'no_such_module'
        """
        return next((name for name in self.modules if importlib.util.find_spec(name) is None), None)


@contextmanager
def _pettingzoo(plan: Plan, name: str) -> Iterator[Run]:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # it would greet on standard output
    env: Any = importlib.import_module(f"pettingzoo.classic.{name}").env()
    env.reset(seed=plan.seed)
    for agent in env.possible_agents:
        env.action_space(agent).seed(plan.seed)

    def run(steps: int) -> int:
        taken = 0
        while taken < steps:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                continue
            env.step(env.action_space(env.agent_selection).sample(observation["action_mask"]))
            taken += 1
        return taken

    yield run
    env.close()


@contextmanager
def _rlcard(plan: Plan, name: str) -> Iterator[Run]:
    rlcard = importlib.import_module("rlcard")
    agent = importlib.import_module("rlcard.agents").RandomAgent
    env = rlcard.make(name, config={"seed": plan.seed})
    env.set_agents([agent(num_actions=env.num_actions) for _ in range(env.num_players)])

    def run(steps: int) -> int:
        taken = 0
        while taken < steps:
            trajectories, _ = env.run(is_training=False)
            taken += sum(len(seat) // 2 for seat in trajectories)  # state, action, state, ...
        return taken

    yield run


@contextmanager
def _openspiel(plan: Plan, name: str) -> Iterator[Run]:
    game = importlib.import_module("pyspiel").load_game(name)
    rng = random.Random(plan.seed)  # noqa: S311  # play, no secret

    def run(steps: int) -> int:
        taken = 0
        while taken < steps:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                    state.apply_action(rng.choices(outcomes, chances)[0])
                else:
                    state.apply_action(rng.choice(state.legal_actions()))
                    taken += 1
        return taken

    yield run


class _PgxPlay:
    """Random play of a pgx game on every XLA device."""

    def __init__(self, name: str, batch: int, seed: int) -> None:
        jax = importlib.import_module("jax")
        pgx = importlib.import_module("pgx")
        auto_reset = importlib.import_module("pgx.experimental").auto_reset
        self._jax, self._devices, self._batch = jax, jax.local_device_count(), batch
        # Two million decisions or so a call: what a call costs by itself does not show.
        self._length = max(4, 2**21 // (batch * self._devices))
        env = pgx.make(name)
        step = jax.vmap(auto_reset(env.step, env.init))

        def decide(state: Any, key: Any) -> tuple[Any, None]:
            chance, following = jax.random.split(key)
            logits = jax.numpy.log(state.legal_action_mask.astype(jax.numpy.float32))
            action = jax.random.categorical(chance, logits, axis=-1)
            return step(state, action, jax.random.split(following, batch)), None

        def rollout(state: Any, key: Any) -> Any:
            return jax.lax.scan(decide, state, jax.random.split(key, self._length))[0]

        keys = jax.random.split(jax.random.PRNGKey(seed), self._devices * batch)
        self._state = jax.pmap(jax.vmap(env.init))(keys.reshape(self._devices, batch, -1))
        self._keys = jax.random.split(jax.random.PRNGKey(seed + 1), self._devices)
        self._rollout = jax.pmap(rollout)

    def __call__(self, steps: int) -> int:
        """Play at least so many decisions."""
        size: int = self._devices * self._batch * self._length
        calls = max(1, round(steps / size))
        for _ in range(calls):
            self._state = self._rollout(self._state, self._keys)
        self._jax.block_until_ready(self._state)
        return calls * size


# What the process that plays pgx keeps.
_playing: dict[int, _PgxPlay] = {}


def _play_pgx(name: str, batch: int, seed: int, devices: int, steps: int) -> int:
    if batch not in _playing:
        os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
        os.environ["JAX_PLATFORMS"] = "cpu"
        _playing[batch] = _PgxPlay(name, batch, seed)
    return _playing[batch](steps)


@contextmanager
def _pgx(plan: Plan, name: str) -> Iterator[Run]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:

        def with_batch(batch: int) -> Run:
            return lambda steps: pool.submit(_play_pgx, name, batch, plan.seed, plan.threads, steps).result()

        batches = (256,) if plan.quick else (1_024, 4_096, 16_384, 65_536)
        runs = [with_batch(batch) for batch in batches]
        trial = Plan(seed=plan.seed, repeats=2, quick=plan.quick, threads=plan.threads)
        rates = [max(values) for values in by_turns(trial, *runs)] if len(runs) > 1 else [1.0]
        yield runs[rates.index(max(rates))]


def _peer(opened: Callable[[Plan, str], Any], name: str) -> Callable[[Plan], Any]:
    return lambda plan: opened(plan, name)


_ZOO = ("rlcard", "pygame")
PEERS: tuple[Peer, ...] = (
    Peer(project="PettingZoo", game="texas_holdem", modules=_ZOO, opened=_peer(_pettingzoo, "texas_holdem_v4")),
    Peer(project="PettingZoo", game="tictactoe", modules=_ZOO, opened=_peer(_pettingzoo, "tictactoe_v3")),
    Peer(project="RLCard", game="doudizhu", modules=("rlcard",), opened=_peer(_rlcard, "doudizhu")),
    Peer(project="RLCard", game="leduc", modules=("rlcard",), opened=_peer(_rlcard, "leduc-holdem")),
    Peer(project="OpenSpiel", game="gin_rummy", modules=("pyspiel",), opened=_peer(_openspiel, "gin_rummy")),
    Peer(project="OpenSpiel", game="leduc_poker", modules=("pyspiel",), opened=_peer(_openspiel, "leduc_poker")),
    Peer(project="pgx", game="leduc", modules=("jax", "pgx"), opened=_peer(_pgx, "leduc_holdem"), batched=True),
)


def measure_peers(plan: Plan, peers: tuple[Peer, ...] = PEERS) -> Section:
    """Measure every peer that is installed, by turns with ours."""
    rules, tables = CrashRules.preset("online"), plan.of(TABLES)
    ours = [vector_run(play, tables, rules, seed=plan.seed, threads=plan.threads) for play in (by_hand, by_candidates)]
    ours.append(candidate_run(plan.seed))
    names = ("CrashVectorEnv hand by hand", "CrashVectorEnv candidates", "CandidateActions, one table")
    found: list[list[float]] = [[] for _ in names]
    figures: list[Figure] = []
    notes: list[str] = []
    for peer in peers:
        label = f"{peer.project} {peer.game}"
        missing = peer.missing
        if missing is not None:
            notes.append(f'{label} is left out: no module {missing} here; pip install "prial[peers]" brings it.')
            continue
        with ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")  # what others deprecate is not ours to tell
            run = stack.enter_context(peer.opened(plan))
            theirs, *rates = by_turns(plan, run, *ours)
        figures.append(figure(label, _UNIT, theirs))
        for number, (name, values) in enumerate(zip(names, rates, strict=True)):
            target = 1.0 if peer.batched and number == 0 else None
            figures.append(figure(f"{name}, over it", "times", ratios(values, theirs), target=target))
            found[number] += values
    figures[:0] = [figure(name, _UNIT, values) for name, values in zip(names, found, strict=True) if values]
    return Section(name="peers", title="Random play in other projects", figures=tuple(figures), notes=tuple(notes))
