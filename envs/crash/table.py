"""What the AEC and the parallel environment have in common: options, spaces, deals, masks, rewards, the full state.

Adapters translate and hold no rules; those are in `Game`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from ..deals import fresh_seed
from .actions import ActionLayout, action_layout
from .events import Event, RoundEnd
from .game import Episode, Game, IllegalActionError, Phase
from .observation import Piece, PlayerView, ViewBatch, encode, encode_seat, observation_layout, view_of
from .partitions import laid_triples, legal_partitions
from .render import Rendered, RenderMode, render_game
from .rules import CrashRules, RulesError
from .scoring import margins
from .starts import check_scores, check_seed

if TYPE_CHECKING:
    from .record_values import GameRecord

__all__ = [
    "CrashTable",
    "Mask",
    "Observation",
    "RenderMode",
    "Rendered",
    "Reward",
    "check_choice",
    "observation_box",
    "read_rules",
    "state_layout",
    "state_slice",
]

Reward = Literal["win", "points"]
Mask = Literal["undominated", "legal"]
Observation: TypeAlias = dict[str, npt.NDArray[Any]]

RESET_OPTIONS = ("scores", "dealer")
# PettingZoo's checkers call reset with this key to see that options are taken.
_CHECKERS_KEY = "options"


class CrashTable:
    """The shared half of both environments; `CrashEnv` and `CrashParallelEnv` document the arguments."""

    def __init__(
        self,
        rules: str | Path | CrashRules,
        *,
        num_actions: int | None,
        reward: Reward,
        episode: Episode,
        mask: Mask,
        render_mode: RenderMode | None,
        scores: Sequence[int] | None,
        dealer: int | None,
        overrides: Mapping[str, Any],
    ) -> None:
        self.rules = read_rules(rules, overrides)
        check_choice("reward", reward, get_args(Reward))
        check_choice("episode", episode, get_args(Episode))
        check_choice("mask", mask, get_args(Mask))
        check_choice("render_mode", render_mode, (None, *get_args(RenderMode)))
        if reward == "win" and episode == "round":
            raise ValueError("reward='win' with episode='round': a single round has no winner; use reward='points'")
        self.reward = reward
        self.episode: Episode = episode
        self.mask = mask
        self.render_mode = render_mode
        self._scores = None if scores is None else check_scores(self.rules, scores)
        self._dealer = dealer
        Game(self.rules, scores=self._scores, dealer=dealer)  # refuses scores or a dealer that do not fit
        self._game: Game | None = None
        self._seed: int | None = None

        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._num_actions = self.layout.size if num_actions is None else num_actions
        self.action_spaces = {agent: spaces.Discrete(self._num_actions) for agent in self.possible_agents}
        self.state_space = _box(state_layout(self.rules))

    # ---- what there is to see -------------------------------------------------------------------------------------

    @cached_property
    def observation_spaces(self) -> dict[str, spaces.Dict]:
        """The space of each agent; made on demand, since the bounds of the wide masks take some megabytes."""
        return {agent: _observation_space(self.rules, self._num_actions) for agent in self.possible_agents}

    @property
    def layout(self) -> ActionLayout:
        """The numbering of actions."""
        return action_layout(self.rules)

    @property
    def game(self) -> Game:
        """The game itself: full information, for spectators, records and search over sampled worlds; not for agents.

        Raises:
            RuntimeError: before the first `reset`.
        """
        if self._game is None:
            raise RuntimeError("no game yet: call reset() first")
        return self._game

    def seat_of(self, agent: str) -> int:
        """Return the seat of an agent.

        Raises:
            ValueError: no such agent.
        """
        seat = self._seats.get(agent)
        if seat is None:
            raise ValueError(f"no agent {agent!r}; expected one of {', '.join(self.possible_agents)}")
        return seat

    def view(self, agent: str) -> PlayerView:
        """Return what an agent knows, as a value: what the observation encodes, and the input of `prial.agents`."""
        return view_of(self.game, self.seat_of(agent))

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of `observe`, the same object every time."""
        self.seat_of(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete[np.int64]:
        """Return the space of actions, the same object every time."""
        self.seat_of(agent)
        return self.action_spaces[agent]

    def state(self) -> npt.NDArray[np.float32]:
        """Return everything about the round, hidden cards included, laid out as `state_layout` says: float32 (size,)."""
        game = self.game
        # Seat 0 numbers the seats as they sit. A choice that is still hidden from it belongs to the state.
        views = [replace(view_of(game, seat), exchanges=tuple(game.exchanges)) for seat in range(self.rules.players)]
        rows = encode(ViewBatch.of(views))
        spares = np.zeros((self.rules.num_spares, 52), np.float32)
        for row, spare in enumerate(game.spares):
            spares[row, list(spare)] = 1
        parts: list[npt.NDArray[np.float32]] = []
        start = 0
        for piece in observation_layout(self.rules):
            columns = rows[:, start : start + piece.size]
            parts.append((columns[0] if _same_for_all(piece) else columns).reshape(-1))
            start += piece.size
        return np.concatenate([*parts, spares.reshape(-1)])

    def render(self) -> Rendered | None:
        """Return the table as text (`ansi`) or pixels (`rgb_array`), or print it (`human`).

        Raises:
            RuntimeError: before the first `reset`.
            ModuleNotFoundError: `rgb_array` without Pillow; the message names the extra.
        """
        return render_game(self.game, self.render_mode)

    def record(self, *, agents: Sequence[str] | None = None, date: str | None = None) -> GameRecord:
        """Return the game so far as a record, hidden cards included (`GameRecord.redacted` hides them).

        A game that an illegal action ended is recorded as unfinished.

        Args:
            agents: what decides at each seat; not said if None.
            date: such as ``2026-11-30``.

        Raises:
            RecordError: not one name a seat, or a date that is none.
            RuntimeError: before the first `reset`.
        """
        from .record import record_of  # loads on demand

        return record_of(self.game, agents=agents, date=date)

    def close(self) -> None:
        """Release nothing: there is no window and no file."""

    # ---- shared by both adapters ----------------------------------------------------------------------------------

    def start_game(self, seed: int | None, options: Mapping[str, Any] | None) -> Game:
        """Deal a new game: the first of a seed, or the next one of the running stream of deals."""
        given = dict(options or {})
        unknown = [key for key in given if key not in (*RESET_OPTIONS, _CHECKERS_KEY)]
        if unknown:
            raise ValueError(f"unknown reset options {unknown!r}; expected {' or '.join(map(repr, RESET_OPTIONS))}")
        if seed is not None:
            stream, first = check_seed(seed), 0
        elif self._seed is None:
            stream, first = fresh_seed(), 0
        else:
            stream, first = self._seed, self.game.deal_number
        game = Game(
            self.rules,
            seed=stream,
            first_deal=first,
            scores=given.get("scores", self._scores),
            dealer=given.get("dealer", self._dealer),
            episode=self.episode,
        )
        self._game, self._seed = game, stream
        return game

    def check_action(self, action: int, seat: int) -> None:
        """Refuse what the rules or the mask forbid.

        Raises:
            IllegalActionError: names agent, action and phase, and what would have done.
        """
        game = self.game
        game.check(action, seat)
        if self.mask == "legal" or game.phase is not Phase.ARRANGE:
            return
        found = game.undominated(seat)
        action = operator.index(action)
        if (found.partitions == action).any():
            return
        laid = [strength for strength, _ in laid_triples(action, game.hands[seat], self.rules)]
        laid += [0] * (found.strengths.shape[1] - len(laid))
        stronger = (found.strengths >= np.array(laid)).all(axis=1)
        equal = (found.strengths == np.array(laid)).all(axis=1)
        # What is equal in strength may still lay fewer four of a kind; then it is dominated like the rest.
        better = int(found.partitions[np.flatnonzero(equal if equal.any() else stronger)[0]])
        relation = "no better than" if equal.any() else "dominated by"
        raise IllegalActionError(
            f"player_{seat} ({game.phase.label} phase): action {action} ({self.layout.describe(action)}) is {relation} "
            f"arrangement {better}, and mask='undominated' leaves one of each undominated value; mask='legal' allows it"
        )

    def full_mask(self, seat: int, *, acting: bool) -> npt.NDArray[np.int8]:
        """Return which actions a seat may take: int8 (actions,), all 0 (but `noop`) unless it is to act now."""
        layout, game = self.layout, self.game
        out = np.zeros(self._num_actions, np.int8)
        if not acting:
            out[layout.noop :] = 1
        elif game.phase is Phase.EXCHANGE:
            out[[layout.keep, layout.exchange]] = 1
        elif game.phase is Phase.CALL:
            out[[layout.pass_, layout.call]] = 1
        elif self.mask == "undominated":
            out[game.undominated(seat).partitions] = 1
        else:
            out[: layout.partitions] = legal_partitions(game.hands[seat], self.rules)
        return out

    def observe_seat(self, seat: int, *, acting: bool) -> Observation:
        """Return one seat's observation and mask."""
        observation = encode_seat(self.game, seat)
        return {"observation": observation, "action_mask": self.full_mask(seat, acting=acting)}

    def rewards_of(self, events: Iterable[Event]) -> list[float]:
        """Return what each seat earns by what has just happened."""
        if self.reward == "points":
            points = next((event.points for event in events if isinstance(event, RoundEnd)), None)
            return [0.0] * self.rules.players if points is None else list(margins(points))
        result, n = self.game.result, self.rules.players
        return [0.0 if result is None else n * result.win_share(seat) - 1 for seat in range(n)]


def state_layout(rules: CrashRules) -> tuple[Piece, ...]:
    """Return the pieces of `state()`, in order; seats as they sit at the table."""
    n = rules.players
    own = tuple(
        piece
        if _same_for_all(piece)
        else replace(piece, shape=(n, *piece.shape), meaning=f"for each seat: {piece.meaning}")
        for piece in observation_layout(rules)
    )
    spares = Piece(
        name="spares",
        shape=(rules.num_spares, 52),
        low=0,
        high=1,
        public=False,
        meaning="the spare hands, in turn order",
    )
    return (*own, spares) if rules.num_spares else own


def state_slice(rules: CrashRules, name: str) -> slice:
    """Return where a piece of `state_layout` lies in `state()`.

    >>> state_slice(CrashRules.preset("online"), "cards")
    slice(0, 156, None)
    """
    start = 0
    for piece in state_layout(rules):
        if piece.name == name:
            return slice(start, start + piece.size)
        start += piece.size
    raise ValueError(f"no piece {name!r} in the state")


def _same_for_all(piece: Piece) -> bool:
    """Whether a piece says the same about the table whoever looks; `to_act` is public, but about one seat."""
    return piece.public and piece.name != "to_act"


def _box(layout: Iterable[Piece]) -> spaces.Box:
    pieces = tuple(layout)
    low, high = (
        np.concatenate([np.full(piece.size, getattr(piece, bound), np.float32) for piece in pieces])
        for bound in ("low", "high")
    )
    return spaces.Box(low, high, dtype=np.float32)


def observation_box(rules: CrashRules) -> spaces.Box:
    """Return a new space of `observation`, with the bounds of its layout."""
    return _box(observation_layout(rules))


def _observation_space(rules: CrashRules, num_actions: int) -> spaces.Dict:
    mask = spaces.Box(0, 1, (num_actions,), np.int8)
    return spaces.Dict({"observation": observation_box(rules), "action_mask": mask})


def read_rules(rules: object, overrides: Mapping[str, Any]) -> CrashRules:
    """Return rules given as a value, a name or a path, with some options set otherwise."""
    if isinstance(rules, CrashRules):
        return rules.replace(**overrides) if overrides else rules
    if isinstance(rules, str | Path):
        from .presets import load_rules  # reads files

        return load_rules(rules, **overrides)
    raise RulesError(f"rules={rules!r}: expected the name of a rule set, a path, or CrashRules")


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: expected {' or '.join(map(repr, choices))}")
