"""`prial quickstart`: train, measure, look at a round, export; a minute or two on two cores."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..console import output, progress_bar, require_extra, shows_symbols
from .train import following

if TYPE_CHECKING:
    from ...agents.protocol import Agent
    from ..ppo_config import PPOConfig

__all__ = ["quickstart"]

_OPPONENTS = ("random", "greedy", "percentile")


def quickstart(
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder of the run.")] = Path("runs/quickstart"),
    *,
    config: Annotated[
        str, typer.Option("--config", metavar="CONFIG", help="A PPO configuration that ships, or a YAML file.")
    ] = "ppo-online",
    games: Annotated[int, typer.Option("--games", min=1, metavar="N", help="Games of the arena.")] = 9600,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of the arena's deals.")] = 1,
) -> None:
    """Train an agent for about a minute, measure it against random, greedy and percentile, and export it.

    A run that is in the folder already is used, or gone on with if it is not finished.
    """
    require_extra(
        "prial quickstart", "train,export", "torch", "sb3_contrib", "tensorboard", "safetensors", "onnx", "onnxscript"
    )
    began = time.monotonic()
    from ..ppo_config import load_ppo_config

    made = load_ppo_config(config)
    _heading(1, f"Training an agent for {made.made_rules().name} ({made.total_steps:,} decisions)")
    _train(made, out)
    bot = out / "bot.onnx"
    _heading(2, "Exporting it to one file, checked to play the same")
    from ..export import export_run

    export_run(out, bot)
    typer.echo(f"{bot} ({bot.stat().st_size / 1000:.0f} kB)")
    _heading(3, f"The arena: {', '.join(('trained', *_OPPONENTS))}, on the same deals in every seat")
    from ...agents.registry import make
    from ..arena import run_arena
    from ..arena_report import show

    trained = make(str(bot))
    trained.name = "trained"
    agents = [trained, *map(make, _OPPONENTS)]
    with progress_bar("Playing") as progress:
        result = run_arena(agents, rules=made.made_rules(), games=games, seed=seed, progress=progress)
    show(result, output())
    _heading(4, "One round, trained against greedy")
    typer.echo(_round(trained, made, seed))
    _heading(5, f"Done in {time.monotonic() - began:.0f} s. What next")
    for command, meaning in (
        (f"prial arena {bot} greedy --games 6000", "it against two greedy"),
        ("prial train ppo --set seed=2 --set total_steps=500000", "train longer"),
        (f"tensorboard --logdir {out / 'tensorboard'}", "look at the training"),
        ('prial arrangements "As Ks Qs Jh Jd 9c 8c 7c 5h 5d 4s 3s 2s"', "what a hand can lay"),
        ("prial --help", "everything else"),
    ):
        typer.echo(f"  {command}\n      {meaning}")
    typer.echo("(in this checkout's environment: .venv/bin/prial, on Windows .venv\\Scripts\\prial)")


def _heading(number: int, text: str) -> None:
    typer.echo(f"\n[{number}/5] {text}")


def _train(config: PPOConfig, out: Path) -> None:
    from ..ppo import train_ppo
    from ..run_folder import RunFolder

    run = RunFolder(out)
    if run.is_started and run.about().get("status") == "finished":
        typer.echo(f"{out} holds a finished run: using it (delete the folder to train anew).")
        return
    if run.is_started:
        typer.echo(f"{out} holds an unfinished run: going on with it.")
    with following(config) as progress:
        train_ppo(config, out, resume=run.is_started, progress=progress)


def _round(trained: Agent, config: PPOConfig, seed: int) -> str:
    import numpy as np

    from ...agents.registry import make
    from ...envs.crash.game import Game
    from ...envs.crash.observation import view_of
    from ...envs.crash.render import format_round

    rules = config.made_rules()
    agents = [trained, *[make("greedy")] * (rules.players - 1)]
    game = Game(rules, seed=seed, episode="round")
    rng = np.random.default_rng(seed)
    while not game.is_over:
        seat = game.pending[0]
        game.step(agents[seat].act(view_of(game, seat), rng), seat)
    names = ["trained", *(f"greedy {number}" for number in range(1, rules.players))]
    return format_round(game.events, rules=rules, names=names, symbols=shows_symbols())
