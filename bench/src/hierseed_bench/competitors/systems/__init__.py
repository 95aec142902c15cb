"""The eight systems of the paper's comparison, each behind the same `fit` and `predict`.

Their heavy parts (PyTorch and the like) are imported when one is made, not before.
"""

from importlib import import_module
from typing import Any

from hierseed.errors import HierSeedError
from hierseed_bench.competitors.systems.system import Config, Examples, System, Task

__all__ = ["SYSTEMS", "Config", "Examples", "System", "Task", "make_system", "system_class"]

SYSTEMS = {  # name -> class in the module of that name
    "hlda": "HLDA",
    "tsntm": "TSNTM",
    "josh": "JoSH",
    "weshclass": "WeSHClass",
    "hdltex": "HDLTex",
    "hft": "HFT",
    "hiagm": "HiAGM",
    "hilap": "HiLAP",
}


def system_class(name: str) -> type[System]:
    """Import a system's class."""
    if name not in SYSTEMS:
        raise HierSeedError(f"no system {name!r}; known are {', '.join(SYSTEMS)}")
    module = import_module(f"hierseed_bench.competitors.systems.{name}")
    found: type[System] = getattr(module, SYSTEMS[name])
    return found


def make_system(name: str, **options: Any) -> System:
    """Make a system; its settings are the published ones unless given.

    Parameters
    ----------
    options : `seed`, `device`, `progress`, `checkpoint`, `vectors`, and any field of the
        system's configuration by its name
    """
    kind = system_class(name)
    own = {key: options.pop(key) for key in list(options) if key in kind.OPTIONS}
    return kind(kind.Config(**options), **own)
