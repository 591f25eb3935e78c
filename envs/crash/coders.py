"""Action numbers that learners can use, instead of 417,847 partitions: `CandidateCoder` and `HandCoder`.

A coder says what a seat sees and what its numbers stand for, in both directions. `CandidateActions`, `HandByHand` and
`SingleSeat` are faces of these. Numbers end in `keep`, `exchange`, `pass`, `call` and, in the parallel API, `noop`; what
comes before them arranges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from ..cards import format_cards
from ..whole_numbers import whole_number
from .candidates_view import NUM_EXTRAS, offered_candidates, padded_features
from .features import CANDIDATE_FEATURES
from .game import Game, IllegalActionError, Phase
from .observation import encode_seat, piece_slice
from .partitions import slot_triples, triple_strengths
from .picking import LegalPicking, Picking, UndominatedPicking, num_triples
from .rules import CrashRules
from .table import Mask, Observation, observation_box

__all__ = ["CandidateCoder", "Coder", "HandCoder"]

_EXTRAS = ("keep", "exchange", "pass", "call", "noop")


class Coder(ABC):
    """Both directions between a game and a wrapper's action numbers.

    Args:
        rules: the rules.
        agents: of whom the spaces are.
        arranging: how many numbers arrange.
        noop: whether there is `noop` (parallel API).

    Attributes:
        rules: the rules.
        num_choices: how many numbers there are, `noop` left out.
        num_actions: how many numbers there are.
        action_spaces, observation_spaces: by agent.
    """

    def __init__(self, rules: CrashRules, agents: Sequence[str], *, arranging: int, noop: bool) -> None:
        self.rules = rules
        self._arranging = arranging
        self.num_choices = arranging + NUM_EXTRAS
        self.num_actions = self.num_choices + noop
        self.action_spaces = {agent: spaces.Discrete(self.num_actions) for agent in agents}
        self.observation_spaces = {agent: spaces.Dict(self._parts()) for agent in agents}

    def observe(self, game: Game, seat: int, *, acting: bool) -> Observation:
        """Return what a seat sees, and its mask: all 0 (but `noop`) unless it is to act."""
        mask = np.zeros(self.num_actions, np.int8)
        if acting:
            self._mark(mask, game, seat)
        else:
            mask[self.num_choices :] = 1
        return {"observation": encode_seat(game, seat), "action_mask": mask}

    def choices(self, game: Game, seat: int) -> npt.NDArray[np.int8]:
        """Return which numbers a seat that is to act may take: int8 (num_choices,)."""
        mask = np.zeros(self.num_choices, np.int8)
        self._mark(mask, game, seat)
        return mask

    def _mark(self, mask: npt.NDArray[np.int8], game: Game, seat: int) -> None:
        """Set to 1, in a mask of zeros, what a seat that is to act may take."""
        if game.phase is Phase.ARRANGE:
            self._mark_arrangements(mask, game, seat)
        else:
            first = self._arranging if game.phase is Phase.EXCHANGE else self._arranging + 2
            mask[first : first + 2] = 1

    def _allows(self, game: Game, seat: int, number: int) -> bool:
        """Whether `choices` of a seat that is to act has this number."""
        return bool(self.choices(game, seat)[number])

    def full_action(self, game: Game, seat: int, action: object, *, acting: bool) -> int | None:
        """Return the action of `game.layout` that a number stands for; None if the decision needs more numbers.

        Raises:
            IllegalActionError: the mask forbids it; names agent, action and phase.
        """
        whole = whole_number(action)
        number = -1 if whole is None else whole
        if acting and 0 <= number < self.num_choices and self._allows(game, seat, number):
            if number < self._arranging:
                return self._lay(game, seat, number)
            return game.layout.keep + number - self._arranging
        if not acting and number == self.num_choices < self.num_actions:
            return game.layout.noop
        what, expected = self._describe(game, seat, number), self._expected(game, seat, acting=acting)
        raise IllegalActionError(
            f"player_{seat} ({game.phase.label} phase): action {action!r} ({what}) is illegal; expected {expected}"
        )

    def remember(self, game: Game, seat: int, action: int) -> None:
        """Note a legal number of a decision that needs more of them."""
        raise AssertionError(f"action {action} of player_{seat} in the {game.phase.label} phase settles everything")

    def forget(self, seat: int | None = None) -> None:  # noqa: B027  # nothing is noted unless a coder does
        """Drop what has been noted of a seat, or of all."""

    def _parts(self) -> dict[str, spaces.Space[Any]]:
        """Return new spaces of the parts of an observation."""
        return {
            "observation": observation_box(self.rules),
            "action_mask": spaces.Box(0, 1, (self.num_actions,), np.int8),
        }

    @abstractmethod
    def _mark_arrangements(self, mask: npt.NDArray[np.int8], game: Game, seat: int) -> None:
        """Set to 1, in a mask of zeros, which numbers arrange now."""

    @abstractmethod
    def _lay(self, game: Game, seat: int, number: int) -> int | None:
        """Return the partition that is laid by a number that the mask allows; None if more numbers must follow."""

    @abstractmethod
    def _name(self, game: Game, seat: int, number: int) -> str:
        """Return what a number that arranges stands for, and why if it cannot be."""

    @abstractmethod
    def _all(self, game: Game, seat: int) -> str:
        """Return in words which numbers arrange now."""

    def _describe(self, game: Game, seat: int, number: int) -> str:
        if 0 <= number < self._arranging:
            return self._name(game, seat, number)
        if self._arranging <= number < self.num_actions:
            return _EXTRAS[number - self._arranging]
        return f"no action, 0 to {self.num_actions - 1} are"

    def _expected(self, game: Game, seat: int, *, acting: bool) -> str:
        if not acting:
            return "noop" if self.num_actions > self.num_choices else "nothing: another seat is to act"
        if game.phase is Phase.ARRANGE:
            return self._all(game, seat)
        allowed = np.flatnonzero(self.choices(game, seat)).tolist()
        return " or ".join(f"{self._describe(game, seat, number)} ({number})" for number in allowed)


class CandidateCoder(Coder):
    """Numbers ``0 .. k-1`` lay an undominated arrangement, strongest Hand 1 first.

    Args:
        rules: the rules.
        agents: of whom the spaces are.
        k: the most candidates offered; which are kept of more: `prial.envs.crash.candidates_view`.
        noop: whether there is `noop` (parallel API).

    Raises:
        ValueError: k is no whole number from 1.

    >>> coder = CandidateCoder(CrashRules(), ["player_0"], k=64, noop=True)
    >>> coder.num_choices, coder.num_actions
    (68, 69)
    """

    def __init__(self, rules: CrashRules, agents: Sequence[str], *, k: int, noop: bool) -> None:
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise ValueError(f"k={k!r}: expected a whole number from 1, the most candidates to choose from")
        super().__init__(rules, agents, arranging=k, noop=noop)

    def observe(self, game: Game, seat: int, *, acting: bool) -> Observation:
        """Return what a seat sees, its candidates, and its mask."""
        found = offered_candidates(game, seat, self._arranging)
        mask = np.zeros(self.num_actions, np.int8)
        if not acting:
            mask[self.num_choices :] = 1
        elif game.phase is Phase.ARRANGE:
            mask[: len(found)] = 1
        else:
            self._mark(mask, game, seat)
        return {
            "observation": encode_seat(game, seat),
            "candidates": padded_features(found, self.rules, self._arranging),
            "action_mask": mask,
        }

    def _parts(self) -> dict[str, spaces.Space[Any]]:
        most = np.ones((self._arranging, len(CANDIDATE_FEATURES)), np.float32)
        most[:, CANDIDATE_FEATURES.index("quads")] = 3
        return {**super()._parts(), "candidates": spaces.Box(np.zeros_like(most), most, dtype=np.float32)}

    def _allows(self, game: Game, seat: int, number: int) -> bool:
        if game.phase is Phase.ARRANGE:
            return number < len(offered_candidates(game, seat, self._arranging))
        return super()._allows(game, seat, number)

    def _mark_arrangements(self, mask: npt.NDArray[np.int8], game: Game, seat: int) -> None:
        mask[: len(offered_candidates(game, seat, self._arranging))] = 1

    def _lay(self, game: Game, seat: int, number: int) -> int:
        return int(offered_candidates(game, seat, self._arranging).partitions[number])

    def _name(self, game: Game, seat: int, number: int) -> str:  # noqa: ARG002  # the same whatever was dealt
        return f"candidate {number}"

    def _all(self, game: Game, seat: int) -> str:
        return f"0 to {len(offered_candidates(game, seat, self._arranging)) - 1}"


class HandCoder(Coder):
    """Numbers ``0 .. C(n, 3) - 1`` pick a hand, the next one lays what has been picked: `prial.envs.crash.picking`.

    What has been picked is the seat's own business until it is laid, and is shown as its `laid`.

    Args:
        rules: the rules.
        agents: of whom the spaces are.
        mask: `undominated` or `legal`.
        noop: whether there is `noop` (parallel API).
    """

    def __init__(self, rules: CrashRules, agents: Sequence[str], *, mask: Mask, noop: bool) -> None:
        super().__init__(rules, agents, arranging=num_triples(rules) + 1, noop=noop)
        self._mask = mask
        self._pickings: dict[int, Picking] = {}
        self._to_act = piece_slice(rules, "to_act")
        self._laid = piece_slice(rules, "laid")

    def observe(self, game: Game, seat: int, *, acting: bool) -> Observation:
        """Return what a seat sees, its picks so far included, and its mask."""
        told = super().observe(game, seat, acting=acting)
        picking = self._pickings.get(seat)
        if picking is not None and game.phase is Phase.ARRANGE and game.laid[seat] is None:
            laid = told["observation"][self._laid].reshape(-1, 52)
            for position, hand in enumerate(self.picking(game, seat).hands):
                laid[position, list(hand)] = 1
            if picking.has_ended:
                told["observation"][self._to_act] = 0
        return told

    def picking(self, game: Game, seat: int) -> Picking:
        """Return what a seat that has not laid its hands has picked."""
        picking = self._pickings.get(seat)
        if picking is None or picking.cards != game.hands[seat]:
            picking = self._pickings[seat] = self._start(game, seat)
        return picking

    def remember(self, game: Game, seat: int, action: int) -> None:
        """Note a legal pick."""
        self._pickings[seat] = self.picking(game, seat).then(action)

    def forget(self, seat: int | None = None) -> None:
        """Drop the picks of a seat, or of all."""
        if seat is None:
            self._pickings.clear()
        else:
            self._pickings.pop(seat, None)

    def _start(self, game: Game, seat: int) -> Picking:
        cards = game.hands[seat]
        if self._mask == "legal":
            return LegalPicking.start(cards, self.rules)
        return UndominatedPicking.start(cards, self.rules, game.undominated(seat))

    def _mark_arrangements(self, mask: npt.NDArray[np.int8], game: Game, seat: int) -> None:
        mask[: self._arranging] = self.picking(game, seat).mask

    def _lay(self, game: Game, seat: int, number: int) -> int | None:
        picking = self.picking(game, seat).then(number)
        return picking.partition if picking.has_ended else None

    def _name(self, game: Game, seat: int, number: int) -> str:
        if number == self._arranging - 1:
            return "done"
        cards = game.hands[seat]
        hand = [cards[slot] for slot in slot_triples(len(cards))[number]]
        text = format_cards(hand)
        if game.phase is not Phase.ARRANGE:
            return text
        strengths = triple_strengths(cards, self.rules)
        picking = self.picking(game, seat)
        fault = f"which leads to no arrangement that mask={self._mask!r} leaves"
        if not strengths[number]:
            fault = f"no hand: lowest_hand is {self.rules.lowest_class.label}"
        elif twice := set(hand) & {card for picked in picking.hands for card in picked}:
            fault = f"with {format_cards(sorted(twice))} picked before"
        elif picking.picks and strengths[number] > strengths[picking.picks[-1]]:
            fault = f"stronger than {format_cards(picking.hands[-1])}: hands are picked strongest first"
        elif picking.picks and strengths[number] == strengths[picking.picks[-1]] and number < picking.picks[-1]:
            fault = f"as strong as {format_cards(picking.hands[-1])}, and numbered before it"
        return f"{text}, {fault}"

    def _all(self, game: Game, seat: int) -> str:
        mask = self.picking(game, seat).mask
        hands = np.flatnonzero(mask[:-1]).tolist()
        shown = ", ".join(map(str, hands[:8])) + (f" or {len(hands) - 8} more" if len(hands) > 8 else "")
        done = f"done ({len(mask) - 1})"
        return (f"{shown} or {done}" if mask[-1] else shown) if hands else done
