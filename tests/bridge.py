"""Between the oracles (texts and dicts) and the engine (ids and values), and deals to try both on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from oracles.cards import PACK, card_id
from oracles.rulesets import resolve
from prial.envs.crash.rules import CrashRules

Int8 = npt.NDArray[np.int8]


def ids(cards: Iterable[str]) -> tuple[int, ...]:
    """Ascending ids of oracle cards."""
    return tuple(sorted(card_id(card) for card in cards))


def texts(cards: Iterable[int]) -> list[str]:
    """Oracle cards of ids, in the order given."""
    return [PACK[card] for card in cards]


def rules_of(options: dict[str, Any]) -> CrashRules:
    """The engine's rules of an oracle's options, with or without `preset`."""
    return CrashRules(**(resolve(options) if "preset" in options else options))


def random_deals(seed: int, count: int, cards_dealt: int, *, pack: Sequence[int] = range(52)) -> Int8:
    """Deals of one hand each: ascending ids, int8 (count, cards_dealt)."""
    rng = np.random.default_rng(seed)
    order = np.argsort(rng.random((count, len(pack))), axis=1)[:, :cards_dealt]
    return np.sort(np.asarray(pack, np.int8)[order], axis=1)


def quads_deals(seed: int, count: int, cards_dealt: int) -> Int8:
    """As `random_deals`, with one or more whole four of a kind in every deal of at least four cards."""
    rng = np.random.default_rng(seed)
    deals = np.empty((count, cards_dealt), np.int8)
    for row in deals:
        ranks = rng.permutation(13)[: 1 + rng.integers(max(1, cards_dealt // 4))]
        fours = (4 * ranks[:, None] + np.arange(4)).ravel()
        others = rng.permutation(np.setdiff1d(np.arange(52), fours))
        row[:] = np.sort(np.concatenate([fours, others])[:cards_dealt])
    return deals


def clustered_deals(seed: int, count: int, cards_dealt: int, *, ranks: int = 6) -> Int8:
    """Deals from a few ranks: many pairs, runs and ties, hence large undominated sets."""
    rng = np.random.default_rng(seed)
    deals = np.empty((count, cards_dealt), np.int8)
    for row in deals:
        some = rng.permutation(13)[: max(ranks, -(-cards_dealt // 4))]
        row[:] = np.sort(rng.permutation((4 * some[:, None] + np.arange(4)).ravel())[:cards_dealt])
    return deals
