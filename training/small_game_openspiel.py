"""Small games for OpenSpiel (`pip install open_spiel`, extra `openspiel`): an oracle that others wrote.

Importing this module registers the game ``prial_small``. Chance deals both players a class of hands each (hands up to suits,
see `prial.training.small_game`) with the weight that such deals have; then player 0 and player 1 each choose one of the
undominated arrangements of their class, neither knowing the other's class or choice. Utilities are margins in points.

`OpenSpielPolicy` is a strategy of the small game as a policy there, for ``open_spiel.python.algorithms.exploitability``.

>>> from open_spiel.python.algorithms import exploitability
>>> game = pyspiel.load_game("prial_small", {"ranks": "QKA", "cards_dealt": 6})
>>> chances = game.small.uniform()
>>> theirs = exploitability.exploitability(game, OpenSpielPolicy(game, chances))
>>> abs(theirs - game.small.best_margin(game.small.mixture(chances))) < 1e-9
True
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy

from ..envs.cards import format_cards
from ..envs.crash.arrangement import Arrangement
from ..envs.crash.rules import CrashRules
from .small_game import Floats, SmallGame

__all__ = ["OpenSpielPolicy", "SmallGameOpenSpiel", "SmallGameState"]

_OPTIONS: dict[str, str | int] = {
    "ranks": "JQKA",
    "cards_dealt": 6,
    "lowest_hand": "pair",
    "flush_high": "ace",
    "crash_points": 1,
    "quads_bonus": 1,
}
_GAME_TYPE = pyspiel.GameType(
    short_name="prial_small",
    long_name="Crash, a small round",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification=_OPTIONS,
)


class _Tables:
    """What all states of a game share. OpenSpiel copies a state with all that it holds; this stays the one it is."""

    def __init__(self, small: SmallGame) -> None:
        self.small = small
        number = np.add.reduceat(small.counts, small.starts[:-1])
        first = np.repeat(np.arange(small.num_classes), np.diff(small.starts))
        chance = small.weights[first] / small.weights.sum() * small.counts / number[first]
        self.pairs = list(zip(first.tolist(), small.others.tolist(), strict=True))
        self.outcomes = list(enumerate(chance.tolist()))
        self.names = [format_cards(cards[::-1].tolist()) for cards in small.cards]
        self.firsts: list[int] = small.arrangements.offsets[:-1].tolist()
        self.actions = [list(range(number)) for number in small.arrangements.counts.tolist()]

    def __deepcopy__(self, memo: Any) -> _Tables:
        return self


class SmallGameOpenSpiel(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """The game; `small` is the same as prial has it."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        options = {**_OPTIONS, **(params or {})}
        crash = options.pop("crash_points")
        rules = CrashRules(players=2, crash_reward=crash, **options)
        self.small = SmallGame.of(rules)
        self._tables = _Tables(self.small)
        most = float(rules.max_round_points)
        info = pyspiel.GameInfo(
            num_distinct_actions=int(self.small.arrangements.counts.max()),
            max_chance_outcomes=len(self._tables.pairs),
            num_players=2,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            max_game_length=2,
        )
        super().__init__(_GAME_TYPE, info, params or {})

    def new_initial_state(self) -> SmallGameState:
        """Return the state before the deal."""
        return SmallGameState(self, self._tables)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> _Observer:  # noqa: ARG002
        """Return what describes a state to a player: in words only."""
        return _Observer()


class _Observer:
    """Information states as text, no tensors."""

    tensor = None
    dict: Mapping[str, Any] = MappingProxyType({})

    def set_from(self, state: SmallGameState, player: int) -> None:
        """Fill the tensors, of which there are none."""

    def string_from(self, state: SmallGameState, player: int) -> str:
        """Return what a player knows."""
        return state.information_state_string(player)


class SmallGameState(pyspiel.State):  # type: ignore[misc]
    """Deal, arrangement of player 0, arrangement of player 1."""

    def __init__(self, game: SmallGameOpenSpiel, tables: _Tables) -> None:
        super().__init__(game)
        self._tables = tables
        self._dealt: int | None = None
        self._rows: tuple[int, ...] = ()

    def current_player(self) -> int:
        """Return who acts."""
        if self._dealt is None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if len(self._rows) == 2 else len(self._rows)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return every pair of classes with its chance."""
        return self._tables.outcomes

    def class_of(self, player: int) -> int:
        """Return the class that a player was dealt."""
        assert self._dealt is not None
        return self._tables.pairs[self._dealt][player]

    def _legal_actions(self, player: int) -> list[int]:
        return self._tables.actions[self.class_of(player)]

    def _apply_action(self, action: int) -> None:
        if self._dealt is None:
            self._dealt = action
        else:
            first = self._tables.firsts[self.class_of(len(self._rows))]
            self._rows = (*self._rows, first + action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return " against ".join(self._tables.names[number] for number in self._tables.pairs[action])
        small, held = self._tables.small, self.class_of(player)
        index = int(small.arrangements[held].partitions[action])
        return str(Arrangement.from_index(index, small.cards[held].tolist(), small.rules))

    def information_state_string(self, player: int | None = None) -> str:
        """Return what a player knows: its cards up to suits, and what it has laid."""
        seat = self.current_player() if player is None else player
        laid = f", laid {self._rows[seat]}" if len(self._rows) > seat else ""
        return f"{seat}: {self._tables.names[self.class_of(seat)]}{laid}"

    def is_terminal(self) -> bool:
        """Return whether both have laid."""
        return len(self._rows) == 2

    def returns(self) -> list[float]:
        """Return both margins."""
        if not self.is_terminal():
            return [0.0, 0.0]
        small, (mine, theirs) = self._tables.small, self._rows
        hands, found = small.rules.hands, small.arrangements
        signs = np.sign(found.strengths[mine, :hands].astype(int) - found.strengths[theirs, :hands]).tolist()
        margin = float(sum(signs) + small.rules.quads_bonus * (int(found.quads[mine]) - int(found.quads[theirs])))
        if hands > 1 and abs(sum(signs)) == hands:
            margin += signs[0] * small.rules.crash_points
        return [margin, -margin]

    def __str__(self) -> str:
        return f"deal {self._dealt}, laid {self._rows}"


class OpenSpielPolicy(policy.Policy):  # type: ignore[misc]
    """A strategy of the small game, for both players.

    Args:
        game: as OpenSpiel has it.
        chances: of the undominated arrangements, float64 (m,).
    """

    def __init__(self, game: SmallGameOpenSpiel, chances: Floats) -> None:
        super().__init__(game, [0, 1])
        found = game.small.arrangements
        self._chances = [
            dict(enumerate(chances[start:stop].tolist()))
            for start, stop in zip(found.offsets[:-1], found.offsets[1:], strict=True)
        ]

    def action_probabilities(self, state: SmallGameState, player_id: int | None = None) -> dict[int, float]:
        """Return the chance of each action."""
        return self._chances[state.class_of(state.current_player() if player_id is None else player_id)]


pyspiel.register_game(_GAME_TYPE, SmallGameOpenSpiel)
