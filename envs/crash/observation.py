"""What one seat knows: `PlayerView` for one decision, `ViewBatch` for many, and the one observation layout.

Nothing hidden ever enters a view: it is built from the seat's own cards and public history alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import prod

import numpy as np
import numpy.typing as npt

from .game import Game, Phase
from .partitions import CandidateBatch, laid_triples, undominated_many
from .rules import CrashRules
from .searches import Searches

__all__ = [
    "Piece",
    "PlayerView",
    "ViewBatch",
    "encode",
    "encode_seat",
    "encode_view",
    "observation_layout",
    "observation_size",
    "observation_starts",
    "piece_slice",
    "view_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerView:
    """Everything one seat knows when it decides; seats are numbered as at the table.

    Attributes:
        rules: the rules.
        seat: whose view.
        phase: where the round stands.
        to_act: whether this seat is to act now.
        dealer: seat of the dealer.
        rounds_played: rounds before this one.
        scores: of every seat.
        cards: own ascending card ids (after an exchange, the new ones).
        given_up: own card ids given up in the exchange, empty if none.
        exchanges: what each seat chose: True exchanged, False kept, None not (or not visibly) chosen.
        calls: what each seat said: True called, False passed, None not yet.
        laid: own partition index, None before laying.
    """

    rules: CrashRules
    seat: int
    phase: Phase
    to_act: bool
    dealer: int
    rounds_played: int
    scores: tuple[int, ...]
    cards: tuple[int, ...]
    given_up: tuple[int, ...]
    exchanges: tuple[bool | None, ...]
    calls: tuple[bool | None, ...]
    laid: int | None


def view_of(game: Game, seat: int) -> PlayerView:
    """Return what a seat knows of a game."""
    return PlayerView(
        rules=game.rules,
        seat=seat,
        phase=game.phase,
        to_act=seat in game.pending,
        dealer=game.dealer,
        rounds_played=game.rounds_played,
        scores=game.scores,
        cards=game.hands[seat],
        given_up=game.given_up[seat] or (),
        exchanges=tuple(_seen_exchanges(game, seat)),
        calls=tuple(game.calls),
        laid=game.laid[seat],
    )


def _seen_exchanges(game: Game, seat: int) -> Sequence[bool | None]:
    if game.rules.players == 2 and game.phase is Phase.EXCHANGE:
        # Both choose without knowing the other's choice (RULES section 3.2).
        return [choice if other == seat else None for other, choice in enumerate(game.exchanges)]
    return game.exchanges


_UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ViewBatch:
    """Many views under the same rules, as arrays with one row a view. Choices are 1, 0, or -1 for not known.

    Attributes:
        rules: the rules of all.
        seat, phase, dealer, to_act: int8 (n,).
        rounds_played: int32 (n,).
        scores: int32 (n, players), by seat at the table.
        cards: int8 (n, cards_dealt), ascending.
        given_up: int8 (n, cards_dealt), -1 where nothing was given up.
        exchanges, calls: int8 (n, players).
        laid: int32 (n,), -1 before laying.
    """

    rules: CrashRules
    seat: npt.NDArray[np.int8]
    phase: npt.NDArray[np.int8]
    dealer: npt.NDArray[np.int8]
    to_act: npt.NDArray[np.int8]
    rounds_played: npt.NDArray[np.int32]
    scores: npt.NDArray[np.int32]
    cards: npt.NDArray[np.int8]
    given_up: npt.NDArray[np.int8]
    exchanges: npt.NDArray[np.int8]
    calls: npt.NDArray[np.int8]
    laid: npt.NDArray[np.int32]
    _found: list[CandidateBatch] = field(default_factory=list, repr=False)
    _searches: Searches | None = field(default=None, repr=False)

    @classmethod
    def of(cls, views: Iterable[PlayerView]) -> ViewBatch:
        """Return views as one batch.

        Raises:
            ValueError: no views, or views under different rules.
        """
        rows = list(views)
        if not rows:
            raise ValueError("a batch needs at least one view")
        rules = rows[0].rules
        if any(view.rules is not rules and view.rules != rules for view in rows):
            raise ValueError("the views of a batch must have the same rules")

        def choices(values: Sequence[bool | None]) -> list[int]:
            return [_UNKNOWN if value is None else int(value) for value in values]

        nothing = (_UNKNOWN,) * rules.cards_dealt
        return cls(
            rules=rules,
            seat=np.array([view.seat for view in rows], np.int8),
            phase=np.array([view.phase for view in rows], np.int8),
            dealer=np.array([view.dealer for view in rows], np.int8),
            to_act=np.array([view.to_act for view in rows], np.int8),
            rounds_played=np.array([view.rounds_played for view in rows], np.int32),
            scores=np.array([view.scores for view in rows], np.int32),
            cards=np.array([view.cards for view in rows], np.int8),
            given_up=np.array([view.given_up or nothing for view in rows], np.int8),
            exchanges=np.array([choices(view.exchanges) for view in rows], np.int8),
            calls=np.array([choices(view.calls) for view in rows], np.int8),
            laid=np.array([_UNKNOWN if view.laid is None else view.laid for view in rows], np.int32),
        )

    def __len__(self) -> int:
        return len(self.seat)

    def __getitem__(self, row: int) -> PlayerView:
        def choices(values: npt.NDArray[np.int8]) -> tuple[bool | None, ...]:
            return tuple(None if value < 0 else bool(value) for value in values.tolist())

        return PlayerView(
            rules=self.rules,
            seat=int(self.seat[row]),
            phase=Phase(int(self.phase[row])),
            to_act=bool(self.to_act[row]),
            dealer=int(self.dealer[row]),
            rounds_played=int(self.rounds_played[row]),
            scores=tuple(self.scores[row].tolist()),
            cards=tuple(self.cards[row].tolist()),
            given_up=tuple(card for card in self.given_up[row].tolist() if card >= 0),
            exchanges=choices(self.exchanges[row]),
            calls=choices(self.calls[row]),
            laid=None if self.laid[row] < 0 else int(self.laid[row]),
        )

    def __iter__(self) -> Iterator[PlayerView]:
        return (self[row] for row in range(len(self)))

    def select(self, rows: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> ViewBatch:
        """Return some rows as a batch of their own."""
        return ViewBatch(
            rules=self.rules,
            seat=self.seat[rows],
            phase=self.phase[rows],
            dealer=self.dealer[rows],
            to_act=self.to_act[rows],
            rounds_played=self.rounds_played[rows],
            scores=self.scores[rows],
            cards=self.cards[rows],
            given_up=self.given_up[rows],
            exchanges=self.exchanges[rows],
            calls=self.calls[rows],
            laid=self.laid[rows],
            _searches=self._searches,
        )

    def sharing(self, searches: Searches) -> ViewBatch:
        """Return the same views, whose searches are shared with other batches."""
        return replace(self, _found=[], _searches=searches)

    def undominated(self) -> CandidateBatch:
        """Return the undominated arrangements of every row's cards (searched once, then kept)."""
        if not self._found:
            shared = self._searches
            self._found.append(undominated_many(self.cards, self.rules) if shared is None else shared.find(self.cards))
        return self._found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One named part of the observation.

    Attributes:
        name: what it is called.
        shape: its shape; it lies flat in the observation, in C order.
        low, high: the bounds of its values.
        public: whether every player sees the same thing (seen from their seat).
        meaning: in words.
    """

    name: str
    shape: tuple[int, ...]
    low: float
    high: float
    public: bool
    meaning: str

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)


@cache
def observation_layout(rules: CrashRules) -> tuple[Piece, ...]:
    """Return the pieces of the observation, in order. Seats are relative: own seat first, then clockwise.

    >>> [piece.name for piece in observation_layout(CrashRules.preset("online"))][:3]
    ['cards', 'given_up', 'laid']
    """
    n, most = rules.players, float(rules.target - 1 + rules.max_round_points)

    def piece(name: str, shape: tuple[int, ...], high: float, meaning: str, *, public: bool = True) -> Piece:
        return Piece(name=name, shape=shape, low=0.0, high=high, public=public, meaning=meaning)

    return (
        piece("cards", (52,), 1, "own cards, 1 at each id held", public=False),
        piece("given_up", (52,), 1, "own cards given up in the exchange", public=False),
        piece("laid", (rules.hands, 52), 1, "own hands once laid, Hand 1 first", public=False),
        piece("phase", (4,), 1, "one of exchange, arrange, call, over"),
        piece("to_act", (1,), 1, "1 if this seat is to act"),
        piece("scores", (n,), most, "points of each seat"),
        piece("rounds_played", (1,), float(rules.max_rounds), "rounds before this one"),
        piece("dealer", (n,), 1, "1 at the dealer's seat"),
        piece("kept", (n,), 1, "1 at each seat known to have kept its hand"),
        piece("exchanged", (n,), 1, "1 at each seat known to have exchanged"),
        piece("passed", (n,), 1, "1 at each seat that passed in the call"),
        piece("called", (n,), 1, "1 at each seat that called a crash"),
    )


@cache
def observation_size(rules: CrashRules) -> int:
    """Return how many numbers an observation has.

    >>> observation_size(CrashRules.preset("online"))
    336
    """
    return sum(piece.size for piece in observation_layout(rules))


def encode(views: ViewBatch) -> npt.NDArray[np.float32]:
    """Return the observations of views, laid out as `observation_layout` says: float32 (n, size)."""
    rules, n = views.rules, len(views)
    out = np.zeros((n, observation_size(rules)), np.float32)
    starts = observation_starts(rules)
    pieces = {piece.name: out[:, starts[i] : starts[i + 1]] for i, piece in enumerate(observation_layout(rules))}
    rows = np.arange(n)
    seats = (views.seat[:, None] + np.arange(rules.players)) % rules.players  # own seat first
    pieces["cards"][rows[:, None], views.cards] = 1
    some, where = np.nonzero(views.given_up >= 0)
    pieces["given_up"][some, views.given_up[some, where]] = 1
    for row in np.flatnonzero(views.laid >= 0):
        _encode_laid(pieces["laid"][row], views, int(row))
    pieces["phase"][rows, views.phase] = 1
    pieces["to_act"][:, 0] = views.to_act
    pieces["scores"][:] = views.scores[rows[:, None], seats]
    pieces["rounds_played"][:, 0] = views.rounds_played
    pieces["dealer"][rows, (views.dealer - views.seat) % rules.players] = 1
    exchanges = views.exchanges[rows[:, None], seats]
    pieces["kept"][:] = exchanges == 0
    pieces["exchanged"][:] = exchanges == 1
    calls = views.calls[rows[:, None], seats]
    pieces["passed"][:] = calls == 0
    pieces["called"][:] = calls == 1
    return out


def _encode_laid(out: npt.NDArray[np.float32], views: ViewBatch, row: int) -> None:
    cards = views.cards[row].tolist()
    for position, (_, slots) in enumerate(laid_triples(int(views.laid[row]), cards, views.rules)):
        for slot in slots:
            out[52 * position + cards[slot]] = 1


@cache
def observation_starts(rules: CrashRules) -> tuple[int, ...]:
    """Return where each piece of the layout starts, then the size of all."""
    return tuple(np.cumsum([0, *(piece.size for piece in observation_layout(rules))]).tolist())


def piece_slice(rules: CrashRules, name: str) -> slice:
    """Return where a piece of the layout lies in an observation.

    Raises:
        ValueError: no piece of that name.

    >>> piece_slice(CrashRules.preset("online"), "phase")
    slice(312, 316, None)
    """
    names = [piece.name for piece in observation_layout(rules)]
    if name not in names:
        raise ValueError(f"no piece {name!r}; expected one of {', '.join(names)}")
    number = names.index(name)
    return slice(*observation_starts(rules)[number : number + 2])


def encode_view(view: PlayerView) -> npt.NDArray[np.float32]:
    """Return the observation of one view: float32 (size,), equal to its row of `encode` and cheaper for a single one."""
    return _encoded(view, view.seat, view.to_act, view.cards, view.given_up, view.exchanges, view.laid)


def encode_seat(game: Game, seat: int) -> npt.NDArray[np.float32]:
    """Return what `encode_view` returns for a seat's view of a game, without making the view: float32 (size,).

    >>> game = Game(CrashRules.preset("online"), seed=7)
    >>> bool((encode_seat(game, 1) == encode_view(view_of(game, 1))).all())
    True
    """
    given_up = game.given_up[seat] or ()
    return _encoded(
        game, seat, seat in game.pending, game.hands[seat], given_up, _seen_exchanges(game, seat), game.laid[seat]
    )


def _encoded(
    public: Game | PlayerView,
    seat: int,
    acts: bool,  # noqa: FBT001  # positions cost least, and this is called for every decision
    cards: tuple[int, ...],
    thrown: tuple[int, ...],
    exchanges: Sequence[bool | None],
    index: int | None,
) -> npt.NDArray[np.float32]:
    """One row: `public` says what every player sees, the rest is the seat's own."""
    rules = public.rules
    n = rules.players
    _, given_up, laid, phase, to_act, scores, rounds, dealer, kept, exchanged, passed, called, size = (
        observation_starts(rules)
    )
    ones = [*cards, phase + public.phase, dealer + (public.dealer - seat) % n]
    if acts:
        ones.append(to_act)
    if thrown:
        ones += [given_up + card for card in thrown]
    if index is not None:
        for position, (_, slots) in enumerate(laid_triples(index, cards, rules)):
            ones += [laid + 52 * position + cards[slot] for slot in slots]
    for choices, no, yes in ((exchanges, kept, exchanged), (public.calls, passed, called)):
        for other, choice in enumerate(choices):
            if choice is not None:
                ones.append((yes if choice else no) + (other - seat) % n)
    out = np.zeros(size, np.float32)
    out[ones] = 1
    out[scores : scores + n] = public.scores[seat:] + public.scores[:seat]
    out[rounds] = public.rounds_played
    return out
