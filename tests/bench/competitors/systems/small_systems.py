"""The eight systems in sizes that a test can train."""

from typing import Any

from hierseed_bench.competitors.systems import System, make_system

WORDS = {"length": 40, "words": 5000, "epochs": 20, "seed_epochs": 20, "rate": 0.01}
SMALL: dict[str, dict[str, Any]] = {
    "hdltex": WORDS | {"hidden": 24, "batch": 8, "seed_batch": 8, "dropout": 0.1},
    "hft": WORDS | {"maps": 16, "hidden": 32, "batch": 16, "dropout": 0.1, "word_dropout": 0.1},
    "hiagm": WORDS
    | {"hidden": 12, "maps": 12, "node": 12, "epochs": 30, "seed_epochs": 40, "batch": 8}
    | {"seed_batch": 8, "min_count": 1, "word_dropout": 0.1, "node_dropout": 0.1}
    | {"logit_dropout": 0.1},
    "hilap": WORDS
    | {"width": 32, "label": 16, "hidden": 64, "seed_epochs": 30, "rl_epochs": 5}
    | {"rl_seed_epochs": 5, "beta": 0.1, "batch": 8, "seed_batch": 8, "dropout": 0.2},
    "hlda": {"sweeps": 100, "infer_sweeps": 20, "min_df": 1, "rm_top": 0},
    "josh": {"dimension": 16, "min_count": 1, "sample": 1.0, "epochs": 8, "rate": 0.05}
    | {"tokens": 64},
    "tsntm": {"min_df": 1, "hidden": 32, "latent": 8, "epochs": 50, "update_every": 100}
    | {"batch": 16, "rate": 0.05},
    "weshclass": {"length": 40, "pseudo": 60, "nearest": 10, "batch": 32, "sentence": 10}
    | {"lm_hidden": 24, "lm_epochs": 8, "lm_rate": 0.02, "epochs": 25, "keywords": 5}
    | {"iterations": 60},
}


def make_small(name: str, **options: Any) -> System:
    """Make a system; options go beyond the small settings."""
    return make_system(name, **SMALL[name] | options)
