"""# Crash.

| Import             | `from prial.envs import crash_v0`                                     |
|--------------------|-----------------------------------------------------------------------|
| Creation           | `make("aec", "prial/crash-v0")`, `make("parallel", "prial/crash-v0")` |
| Actions            | Discrete                                                              |
| Parallel API       | Yes                                                                   |
| Manual Control     | No                                                                    |
| Agents             | `agents= ['player_0', 'player_1', 'player_2']`                        |
| Agents             | 3 (2 to 5)                                                            |
| Action Shape       | (1)                                                                   |
| Action Values      | Discrete(417851), parallel API Discrete(417852)                       |
| Observation Shape  | (336,)                                                                |
| Observation Values | [0, 200]                                                              |
| State Shape        | (962,)                                                                |

(Shapes and values of the rule set `online`, the default.)

Crash is 13-card Brag: out of 13 cards each player lays up to four Brag hands of three cards, strongest first, in
secret. Then the hands are compared position by position; the one strongest hand of each scores a point. Whoever wins
every comparison has crashed. Points count towards a target over several rounds.

Importing `prial.envs` registers `prial/crash-v0` with PettingZoo's registry (`from pettingzoo import make`). Options
follow as keywords: `make("aec", "prial/crash-v0", rules="bga", players=2)`.

### Arguments

``` python
crash_v0.env(
    rules="online", reward="win", episode="game", mask="undominated", render_mode=None, scores=None, dealer=None
)
```

| Argument      | Values                                     | Default         | Meaning                                   |
|---------------|--------------------------------------------|-----------------|-------------------------------------------|
| `rules`       | name, path, `CrashRules`                   | `'online'`      | `online`, `bga`, `traditional`, YAML file |
| `reward`      | `'win'`, `'points'`                        | `'win'`         | what is paid, see Rewards                 |
| `episode`     | `'game'`, `'round'`                        | `'game'`        | a game, or one round (`reward='points'`)  |
| `mask`        | `'undominated'`, `'legal'`                 | `'undominated'` | which arrangements the mask leaves        |
| `render_mode` | `None`, `'ansi'`, `'human'`, `'rgb_array'` | `None`          | what `render()` does, see Rendering       |
| `scores`      | whole numbers below the target             | `None`          | scores at the start, zeros if None        |
| `dealer`      | a seat                                     | `None`          | seat of the first dealer, drawn if None   |
| `illegal`     | `'lose'`, `'raise'`                        | `'lose'`        | `parallel_env` only, see Illegal actions  |

Any further keyword is an option of `CrashRules` and set on top of the rules: `players=2`, `target=10`,
`crash_call="optional"`. `reset(options={"scores": ..., "dealer": ...})` sets these two for one game; other keys are
refused (but for the key `"options"`, which PettingZoo's checkers send to see whether options are taken).

### Observation Space

The observation is a dictionary with `'observation'`, float32, and `'action_mask'`, int8 (see Legal Actions Mask). Seats
are relative: own seat first, then clockwise. Nothing hidden is in it: private parts are the agent's own.

| Index     | Part            | Shape       | Values           | Public | Meaning                                    |
|-----------|-----------------|-------------|------------------|--------|--------------------------------------------|
| 0 - 51    | `cards`         | (52,)       | 0 or 1           | no     | own cards, 1 at each id held               |
| 52 - 103  | `given_up`      | (52,)       | 0 or 1           | no     | own cards given up in the exchange         |
| 104 - 311 | `laid`          | (hands, 52) | 0 or 1           | no     | own hands once laid, Hand 1 first          |
| 312 - 315 | `phase`         | (4,)        | 0 or 1           | yes    | one of exchange, arrange, call, over       |
| 316       | `to_act`        | (1,)        | 0 or 1           | yes    | 1 if this seat is to act                   |
| 317 - 319 | `scores`        | (players,)  | 0 to most_points | yes    | points of each seat                        |
| 320       | `rounds_played` | (1,)        | 0 to max_rounds  | yes    | rounds before this one                     |
| 321 - 323 | `dealer`        | (players,)  | 0 or 1           | yes    | 1 at the dealer's seat                     |
| 324 - 326 | `kept`          | (players,)  | 0 or 1           | yes    | 1 at each seat known to have kept its hand |
| 327 - 329 | `exchanged`     | (players,)  | 0 or 1           | yes    | 1 at each seat known to have exchanged     |
| 330 - 332 | `passed`        | (players,)  | 0 or 1           | yes    | 1 at each seat that passed in the call     |
| 333 - 335 | `called`        | (players,)  | 0 or 1           | yes    | 1 at each seat that called a crash         |

Card ids are `4 * rank + suit`, rank 0 to 12 for 2 to A, suit 0 to 3 for clubs, diamonds, hearts, spades. `hands`,
`players` and `max_rounds` are those of the rules; `most_points` is `target - 1` and the most that one round can add.
`view(agent)` gives the same as a value with names.

`state()` is everything about the round, hidden cards included, with seats as they sit at the table: the parts above
(`cards`, `given_up`, `laid` and `to_act` once for each seat) and then the spare hands, if any. `game` is the full game,
for spectators and records. Neither is for agents.

#### Legal Actions Mask

`action_mask` has a 1 for every action that may be taken now. It is all 0 for every agent but the one to act; in the
parallel API the agents that are not to act have `noop` alone. `mask="undominated"` leaves one arrangement of each
undominated value (5.6 on average): another one is never better against any opponents. `mask="legal"` leaves every one
that may be laid.

Masks of four hundred thousand entries are honest but heavy. Learners use a wrapper of `prial.envs.crash.wrappers`:
`CandidateActions` (choose one of the undominated arrangements) or `HandByHand` (pick one hand after the other).

### Action Space

| Action     | Count  | Name       | Phase    | Meaning                                                                   |
|------------|--------|------------|----------|---------------------------------------------------------------------------|
| 0 - 417846 | 417847 | partition  | arrange  | lay the partition of that canonical index (`prial.envs.crash.partitions`) |
| 417847     | 1      | `keep`     | exchange | keep one's hand                                                           |
| 417848     | 1      | `exchange` | exchange | swap it for the spare hand                                                |
| 417849     | 1      | `pass`     | call     | do not call a crash                                                       |
| 417850     | 1      | `call`     | call     | call a crash                                                              |
| 417851     | 1      | `noop`     | any      | nothing to decide (parallel API only)                                     |

With 6, 7, 9 or 10 cards there are 31, 106, 1205 or 5021 partitions, and the others follow on.

### Phases

| Phase    | Who acts                                                       | When                               |
|----------|----------------------------------------------------------------|------------------------------------|
| exchange | three players: in turn, until one exchanges; two: both at once | `exchange="spare"`, 2 or 3 players |
| arrange  | all at once                                                    | every round                        |
| call     | in turn                                                        | `crash_call` is not `"none"`       |
| over     | nobody                                                         | the game has ended                 |

Turn order is clockwise from the dealer's left. Where all act at once, the AEC environment asks in turn order too, and
nobody sees what those before them chose. Reveal and scoring need no decision; the next round follows in the same step.

### Rewards

| `reward`   | Paid                          | Value                                                             |
|------------|-------------------------------|-------------------------------------------------------------------|
| `'win'`    | at the end of the game        | `players * share - 1` (share: 1, 1/k for a win shared by k, or 0) |
| `'points'` | in the step that ends a round | own points of the round minus the mean of the others'             |

Both sum to 0 over the agents. A round's points are those of the round played to its end, even if `finish="immediate"`
cut it short; a crash that wins the game counts 1. Games cut off by `max_rounds` are truncated for all agents, others
are terminated; all agents end together.

### Illegal actions

- `raw_env` raises `IllegalActionError` (a `ValueError`) that names agent, action and phase, and changes nothing. What
  the mask forbids is illegal, dominated arrangements with `mask="undominated"` included.
- `env` ends the game: -1 for that agent and 0 for the others, all terminated and truncated (PettingZoo's
  `TerminateIllegalWrapper`). What is no action at all raises `IllegalActionError`.
- `parallel_env(illegal="lose")`: the game ends, -1 for each agent at fault, the others share what these lose (nobody
  gains if all are at fault), and an `IllegalActionWarning` says so. With `illegal="raise"` it raises and changes
  nothing.

A step before `reset` or after the end raises `RuntimeError`.

### Rendering

| `render_mode` | `render()`                                                                          |
|---------------|-------------------------------------------------------------------------------------|
| `'ansi'`      | returns the table as plain text                                                     |
| `'human'`     | prints it with suit symbols to standard output, and so do `reset` and `step`        |
| `'rgb_array'` | returns it drawn, uint8 (height, width, 3), always the same size for the same rules |

All show everything, hidden cards too: the table as it stands, and below it the last round that was compared. Before the
first `reset` they raise `RuntimeError`. Drawing needs Pillow, the extra `render`; without it `render()` says so, while the
environment can be made and played. `prial.envs.crash.table_picture` and `prial.envs.crash.round_picture` draw the same as
SVG, without Pillow, and notebooks show those pictures, and arrangements, by themselves.

### Determinism

Deals are a function of (seed, number of the deal) alone, the same on every machine: `prial.envs.deals`, table 0.
`reset(seed=s)` starts at deal 0; `reset()` goes on with the next deal, so that no deal comes twice. The very first
`reset()` without a seed takes a fresh one from the operating system. Nothing is read from global random state. Copies
and pickles go on with the same game. The AEC environment cannot be converted to the parallel API (agents take turns in
one phase and act at once in the next): use `parallel_env`, which gives the same rewards for the same decisions.

### Version History

* v0: Initial version (0.1.0)

"""

from __future__ import annotations

from .crash.env import CrashEnv, CrashParallelEnv, IllegalActionWarning, env
from .crash.game import IllegalActionError

__all__ = ["IllegalActionError", "IllegalActionWarning", "env", "parallel_env", "raw_env"]

raw_env = CrashEnv
parallel_env = CrashParallelEnv
