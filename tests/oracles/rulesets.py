"""Options of the rules as plain dicts: the rule sets of RULES section 5, what cannot be played."""

from typing import Any

from .cards import RANKS

Rules = dict[str, Any]

_COMMON: Rules = {
    "crash_call": "none",
    "crash_call_bonus": 1,
    "crash_call_penalty": 1,
    "max_rounds": 200,
    "ranks": RANKS,
}

PRESETS: dict[str, Rules] = {
    "online": {
        **_COMMON,
        "players": 3,
        "cards_dealt": 13,
        "lowest_hand": "pair",
        "flush_high": "ace",
        "exchange": "none",
        "target": 7,
        "finish": "immediate",
        "crash_reward": "game",
        "quads_bonus": 1,
    },
    "bga": {
        **_COMMON,
        "players": 3,
        "cards_dealt": 13,
        "lowest_hand": "pair",
        "flush_high": "three",
        "exchange": "spare",
        "target": 7,
        "finish": "round_end",
        "crash_reward": 1,
        "quads_bonus": 0,
    },
    "traditional": {
        **_COMMON,
        "players": 4,
        "cards_dealt": 13,
        "lowest_hand": "pair",
        "flush_high": "ace",
        "exchange": "spare",
        "target": 15,
        "finish": "immediate",
        "crash_reward": 1,
        "quads_bonus": 0,
    },
}


def resolve(options: Rules) -> Rules:
    """All options of a rule set: `{"preset": "bga", "players": 2}` and the like."""
    overrides = {name: value for name, value in options.items() if name != "preset"}
    rules = {**PRESETS[options["preset"]], **overrides}
    # "unset with five players it becomes 9: our choice"
    if options["preset"] == "bga" and rules["players"] == 5 and "cards_dealt" not in overrides:
        rules["cards_dealt"] = 9
    return rules


def num_hands(rules: Rules) -> int:
    """How many hands a player may lay: `min(4, cards_dealt // 3)` (section 3.3)."""
    return int(min(4, rules["cards_dealt"] // 3))


def spare_hands(rules: Rules) -> int:
    """How many spare hands the exchange needs (section 3.2)."""
    if rules["exchange"] == "none":
        return 0
    # "two players: a spare hand each"; "three players: ... the one spare hand";
    # "four or five players: no exchange"
    return {2: 2, 3: 1, 4: 0, 5: 0}[rules["players"]]


def turn_order(rules: Rules, dealer: int) -> list[int]:
    """Seats "clockwise from the dealer's left, the dealer last": they are numbered clockwise."""
    players = rules["players"]
    return [(dealer + step) % players for step in range(1, players + 1)]


def rules_faults(rules: Rules) -> list[str]:
    """The options at fault of rules that cannot be played; none if they can."""
    faults = []
    if rules["players"] not in {2, 3, 4, 5}:
        return ["players"]
    if not 3 <= rules["cards_dealt"] <= 13:
        return ["cards_dealt"]
    dealt = rules["cards_dealt"] * (rules["players"] + spare_hands(rules))
    if dealt > 4 * len(rules["ranks"]):
        faults += ["players", "cards_dealt"]
        if spare_hands(rules):
            faults.append("exchange")
        if len(rules["ranks"]) < 13:
            faults.append("ranks")
    allowed: dict[str, set[Any]] = {
        "lowest_hand": {"high_card", "pair", "flush"},
        "flush_high": {"ace", "three"},
        "exchange": {"none", "spare"},
        "finish": {"immediate", "round_end"},
        "crash_call": {"none", "optional", "required"},
    }
    faults += [name for name, values in allowed.items() if rules[name] not in values]
    faults += [name for name in ("target", "max_rounds") if rules[name] < 1]
    numbers = ("crash_call_bonus", "crash_call_penalty", "quads_bonus")
    faults += [name for name in numbers if rules[name] < 0]
    reward = rules["crash_reward"]
    if reward != "game" and (not isinstance(reward, int) or reward < 0):
        faults.append("crash_reward")
    return faults
