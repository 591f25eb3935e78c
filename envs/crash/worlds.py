"""Worlds that one seat cannot tell apart: everything hidden from it drawn anew, for search and for tests of secrecy."""

from __future__ import annotations

import numpy as np

from .actions import action_layout
from .events import Arrange, Call, Deal, Exchange, Ids
from .game import Game, Phase
from .observation import PlayerView, view_of

__all__ = ["sample_world"]


def sample_world(game: Game, seat: int, rng: np.random.Generator) -> Game:
    """Return a game that looks the same to one seat, with everything that it cannot know drawn anew.

    Drawn anew are the other hands, the spare hands, the cards that others gave up, the deals to come, the arrangements that
    others have laid (evenly among the legal ones), and another player's exchange choice where it is still secret. Who has
    acted, and in which order, is public and stays. Events of earlier rounds are left out. Nothing hidden is read: a world is
    made from `view_of(game, seat)` and from who acted when.

    Args:
        game: the game.
        seat: whose knowledge counts.
        rng: draws the cards and choices.

    Raises:
        ValueError: the game is over, or there is no such seat.

    >>> from .rules import CrashRules
    >>> game = Game(CrashRules.preset("online"), seed=0)
    >>> world = sample_world(game, 1, np.random.default_rng(0))
    >>> world.hands[1] == game.hands[1], world.hands[0] == game.hands[0], view_of(world, 1) == view_of(game, 1)
    (True, False, True)
    """
    if game.is_over:
        raise ValueError("the game is over: no world is left to sample")
    if seat not in range(game.rules.players):
        raise ValueError(f"seat {seat!r} is not at the table; expected 0 to {game.rules.players - 1}")
    view = view_of(game, seat)
    world = Game(
        view.rules,
        seed=int(rng.integers(1 << 63)),
        deals=[_sample_deal(view, game.turn_order, rng)],
        dealer=view.dealer,
        scores=view.scores,
        rounds_played=view.rounds_played,
        episode=game.episode,
    )
    for actor in _actors(game):
        world.step(_choose(world, view, actor, rng), actor)
    return world


def _actors(game: Game) -> list[int]:
    """Who has acted in this round, in order."""
    events = game.events
    start = max(place for place, event in enumerate(events) if isinstance(event, Deal))
    return [event.seat for event in events[start:] if isinstance(event, Exchange | Arrange | Call)]


def _sample_deal(view: PlayerView, order: tuple[int, ...], rng: np.random.Generator) -> Deal:
    """A deal in which this seat was dealt what it was, and holds what it holds."""
    rules = view.rules
    known = {*view.cards, *view.given_up}
    rest = [int(card) for card in rng.permutation([card for card in rules.pack if card not in known])]

    def draw() -> Ids:
        pile, rest[: rules.cards_dealt] = tuple(sorted(rest[: rules.cards_dealt])), []
        return pile

    taken = (order.index(view.seat) if rules.players == 2 else 0) if view.given_up else -1
    hands = tuple((view.given_up or view.cards) if seat == view.seat else draw() for seat in range(rules.players))
    spares = tuple(view.cards if number == taken else draw() for number in range(rules.num_spares))
    return Deal(round_number=view.rounds_played, dealer=view.dealer, scores=view.scores, hands=hands, spares=spares)


def _choose(world: Game, view: PlayerView, actor: int, rng: np.random.Generator) -> int:
    """What an actor did: as the view tells it, drawn where it does not."""
    layout = action_layout(view.rules)
    if world.phase is Phase.EXCHANGE:
        exchanged = view.exchanges[actor]
        drawn = bool(rng.integers(2)) if exchanged is None else exchanged
        return layout.exchange if drawn else layout.keep
    if world.phase is Phase.CALL:
        return layout.call if view.calls[actor] else layout.pass_
    if actor == view.seat and view.laid is not None:
        return view.laid
    return int(rng.choice(world.legal_actions(actor)))
