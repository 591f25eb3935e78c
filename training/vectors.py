"""Conformance vectors: positions, legal answers, scored rounds and expected decisions, for any other implementation.

JSON Lines; `docs/engine-protocol.md` describes each kind of line. The same seed gives the same file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import metadata
from itertools import combinations
from typing import Any

import numpy as np

from ..agents import levels
from ..agents.engine_protocol import PROTOCOL, format_decision, format_position, format_rules
from ..agents.heuristics import RandomUndominated
from ..agents.protocol import Agent, BaseAgent
from ..agents.registry import make
from ..envs.brag import NUM_STRENGTHS, FlushHigh, class_of_strength, strength_table
from ..envs.cards import Card, format_cards
from ..envs.crash.arrangement import Arrangement, arrangement_faults
from ..envs.crash.events import Arrange, Award, AwardReason, Call, Deal, Exchange, Reveal, RoundEnd
from ..envs.crash.game import Game, Phase
from ..envs.crash.observation import PlayerView, view_of
from ..envs.crash.partitions import legal_partitions, undominated_of_dealt
from ..envs.crash.rules import CrashRules
from .one_file_check import level_chance

__all__ = ["AGENTS", "FORMAT", "LEVELS", "vector_rules", "vectors"]

FORMAT = 1
AGENTS = ("greedy", "balanced", "percentile", "solver-fast", "online", "bga", "traditional")
"""Whose decisions are given: built-in agents that draw no chance."""
LEVELS = tuple(f"{rule_set}:{name}" for rule_set in ("online", "bga", "traditional") for name in levels.LEVELS)
"""Whose decisions are given by a seed, as of their one-file bots."""

_RARE = 3  # further rounds with a crash, and with four of a kind laid whole
_SEARCHED = 15  # times as many rounds are played to find them


def vector_rules() -> dict[str, CrashRules]:
    """Return the rules that vectors are made for, by name: every rule set with every number of players, and variants.

    >>> list(vector_rules())[:3]
    ['online-2', 'online-3', 'online-4']
    """
    numbers = {"online": (2, 3, 4), "bga": (2, 3, 4, 5), "traditional": (2, 3, 4)}
    found = {
        f"{name}-{players}": CrashRules.preset(name, players=players)
        for name, counts in numbers.items()
        for players in counts
    }
    return found | {
        "bga-3-high-card-9": CrashRules.preset("bga", lowest_hand="high_card", cards_dealt=9),
        "bga-3-flush": CrashRules.preset("bga", lowest_hand="flush", target=10),
        "traditional-3-optional-call": CrashRules.preset("traditional", players=3, crash_call="optional"),
        "traditional-3-required-call": CrashRules.preset(
            "traditional", players=3, crash_call="required", quads_bonus=1, target=7
        ),
        "online-2-seven-cards": CrashRules.preset(
            "online", players=2, cards_dealt=7, crash_reward=2, ranks="3456789TJQKA"
        ),
    }


def vectors(*, seed: int = 1, deals: int = 12, agents: Sequence[str] = AGENTS) -> Iterator[str]:
    """Yield the lines of the file.

    Args:
        seed: of deals, scores and what is played.
        deals: rounds of each rules; each gives a position of every phase and a scored round.
        agents: whose decisions are given, where they play the rules.

    >>> json.loads(next(vectors()))["kind"]
    'about'
    """
    yield _line(
        kind="about", format=FORMAT, protocol=PROTOCOL, prial=metadata.version("prial"), seed=seed, agents=list(agents)
    )
    yield from _hands(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1_000,))))
    made, erring = ([make(name) for name in names] for names in (agents, LEVELS))
    for number, (name, rules) in enumerate(vector_rules().items()):
        options = {option: value for option, value in rules.to_dict().items() if option != "name"}
        yield _line(kind="rules", id=name, command=format_rules(rules), options=options)
        playing, slipping = ([agent for agent in some if _plays(agent, rules)] for some in (made, erring))
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
        rare = {"crash": _RARE, "quads": _RARE}
        for deal in range(deals * _SEARCHED):
            views, game = _round(rules, seed=seed, deal=deal, rng=rng)
            kinds = _rarities(game)
            if deal >= deals and not any(rare[kind] for kind in kinds):
                continue
            if deal < deals:
                for view in views:
                    yield _position(name, view, playing, slipping, seed=int(rng.integers(2**31)))
            for kind in kinds:
                rare[kind] = max(0, rare[kind] - 1)
            yield _scored(name, game)


def _line(**values: Any) -> str:
    return json.dumps(values)


def _plays(agent: Agent, rules: CrashRules) -> bool:
    try:
        if isinstance(agent, BaseAgent):
            agent.check_rules(rules)
    except ValueError:
        return False
    return True


def _hands(rng: np.random.Generator) -> Iterator[str]:
    """One hand of every strength, weakest first, its cards in any order; the strength under both orders of flushes."""
    tables = {order.value: strength_table(order) for order in FlushHigh}
    triples = [(i, j, k) for k in range(52) for j in range(k) for i in range(j)]  # by `triple_index`
    for strength in range(1, NUM_STRENGTHS + 1):
        index = int(rng.choice(np.flatnonzero(tables["ace"] == strength)))
        cards = rng.permutation(triples[index]).tolist()
        strengths = {order: int(table[index]) for order, table in tables.items()}
        kind = class_of_strength(strength).label
        yield _line(kind="hand", cards=_texts(cards), **{"class": kind}, strength=strengths)


def _texts(cards: Sequence[int] | Sequence[Card]) -> list[str]:
    return format_cards(cards).split()


def _round(rules: CrashRules, *, seed: int, deal: int, rng: np.random.Generator) -> tuple[list[PlayerView], Game]:
    """Play a round at random; return a view of every phase, of a seat drawn among those that are asked, and the game."""
    scores = rng.integers(rules.target, size=rules.players).tolist()
    rounds = int(rng.integers(10))
    game = Game(rules, seed=seed, first_deal=deal, scores=scores, rounds_played=rounds, episode="round")
    player, views = RandomUndominated(), dict[Phase, list[PlayerView]]()
    while not game.is_over:
        view = view_of(game, game.pending[0])
        views.setdefault(view.phase, []).append(view)
        game.step(player.act(view, rng), view.seat)
    return [asked[rng.integers(len(asked))] for asked in views.values()], game


def _rarities(game: Game) -> list[str]:
    crashed = any(isinstance(event, RoundEnd) and event.crasher is not None for event in game.events)
    quads = any(isinstance(event, Award) and event.reason is AwardReason.QUADS for event in game.events)
    return ["crash"] * crashed + ["quads"] * quads


def _position(name: str, view: PlayerView, agents: Sequence[Agent], erring: Sequence[Agent], *, seed: int) -> str:
    rng = np.random.default_rng(0)  # not drawn from
    decisions = {agent.name: format_decision(agent.act(view, rng), view) for agent in agents}
    chance = level_chance(np.array([seed], np.int32))
    by_seed = {agent.name: format_decision(agent.act(view, chance), view) for agent in erring}
    laid = None if view.laid is None else str(Arrangement.from_index(view.laid, list(view.cards), view.rules))
    seen = {
        "seat": view.seat,
        "dealer": view.dealer,
        "rounds_played": view.rounds_played,
        "scores": list(view.scores),
        "cards": _texts(view.cards),
        "given_up": _texts(view.given_up),
        "exchanges": list(view.exchanges),
        "calls": list(view.calls),
        "laid": laid,
    }
    told: dict[str, Any] = {"rules": name, "phase": view.phase.label, "command": format_position(view), "view": seen}
    if view.phase is Phase.ARRANGE:
        told |= _answers(view)
    return _line(kind="position", **told, decisions=decisions, seed=seed, decisions_by_seed=by_seed)


def _answers(view: PlayerView) -> dict[str, Any]:
    """How many arrangements are legal, which of them are undominated, and some answers with what is wrong with them."""
    rules, hands = view.rules, view.rules.hands
    found = undominated_of_dealt(view.cards, rules)
    undominated = [
        {
            "lay": format_decision(int(found.partitions[row]), view),
            "strengths": found.strengths[row, :hands].tolist(),
            "quads": int(found.quads[row]),
        }
        for row in range(len(found))
    ]
    best = Arrangement.from_index(int(found.partitions[0]), list(view.cards), rules)
    tries = []
    for laid in _tries(best, view):
        faults = arrangement_faults(laid, list(view.cards), rules)
        kinds = sorted({fault.kind.name.lower() for fault in faults})
        text = " | ".join(format_cards(hand) for hand in laid)
        tries.append({"lay": f"lay {text}".rstrip(), "legal": not faults, "faults": kinds})
    return {"legal": int(legal_partitions(view.cards, rules).sum()), "undominated": undominated, "tries": tries}


def _tries(best: Arrangement, view: PlayerView) -> Iterator[list[tuple[Card, ...]]]:
    """Answers: the best in order, backwards, fewer hands, and each kind of mistake."""
    hands = list(best.hands)
    yield hands
    yield hands[::-1]
    yield hands[:1]
    yield []
    if not hands:
        return
    foreign = next(Card(card) for card in view.rules.pack if card not in view.cards)
    yield [(foreign, *hands[0][1:]), *hands[1:]]
    yield [*hands, hands[0]]
    yield [hands[0][:2], *hands[1:]]
    weak = next(
        (cards for cards in combinations(map(Card, view.cards), 3) if arrangement_faults([cards], cards, view.rules)),
        None,
    )
    if weak is not None:
        yield [weak]


def _scored(name: str, game: Game) -> str:
    """A round from its deal to its scores; `winners` and `reason` say whether the game ended with it."""
    events, n = game.events, game.rules.players
    deal = next(event for event in events if isinstance(event, Deal))
    exchange: list[bool | None] = [None] * n
    laid: list[list[list[str]]] = [[] for _ in range(n)]
    calls = [False] * n
    for event in events:
        if isinstance(event, Exchange):
            exchange[event.seat] = event.exchanged
        elif isinstance(event, Arrange):
            strongest_first = Arrangement.from_index(event.partition, list(game.hands[event.seat]), game.rules)
            laid[event.seat] = [_texts(hand) for hand in strongest_first.hands]
        elif isinstance(event, Call):
            calls[event.seat] = event.called
    end = next(event for event in events if isinstance(event, RoundEnd))
    result = game.result
    over = result is not None and bool(result.winners)
    expected = {
        "revealed": sum(isinstance(event, Reveal) for event in events),
        "comparison_winners": [event.winner for event in events if isinstance(event, Reveal)],
        "crasher": end.crasher,
        "scores": list(end.scores),
        "points": list(end.points),
        "winners": list(result.winners) if result is not None and over else [],
        "reason": result.reason.value if result is not None and over else None,
    }
    return _line(
        kind="round",
        rules=name,
        dealer=deal.dealer,
        scores=list(deal.scores),
        rounds_played=deal.round_number,
        hands=[_texts(hand) for hand in deal.hands],
        spares=[_texts(spare) for spare in deal.spares],
        exchange=exchange,
        laid=laid,
        calls=calls,
        expected=expected,
    )
