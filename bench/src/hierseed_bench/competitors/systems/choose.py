"""Find a system by name and make it, importing nothing that is not asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hierseed.errors import HierSeedError
from hierseed_bench.competitors.systems.system import System

SYSTEMS = {  # name -> module and class
    "hlda": "hlda:HLDA",
    "tsntm": "tsntm:TSNTM",
    "josh": "josh:JoSH",
    "weshclass": "weshclass:WeSHClass",
    "hdltex": "hdltex:HDLTex",
    "hft": "hft:HFT",
    "hiagm": "hiagm:HiAGM",
    "hilap": "hilap:HiLAP",
}


def system_class(name: str) -> type[System]:
    """Import a system's class."""
    if name not in SYSTEMS:
        raise HierSeedError(f"no system {name!r}; known are {', '.join(SYSTEMS)}")
    module, _, attribute = SYSTEMS[name].partition(":")
    found: type[System] = getattr(
        import_module(f"hierseed_bench.competitors.systems.{module}"), attribute
    )
    return found


def make_system(name: str, *, quick: bool = False, **options: Any) -> System:
    """Make a system with its published settings, or with small ones where `quick`.

    Parameters
    ----------
    options : `seed`, `device`, `progress`, `checkpoint`, `vectors`, and any field of the
        system's configuration by its name
    """
    kind = system_class(name)
    own = {key: options.pop(key) for key in list(options) if key in kind.OPTIONS}
    config = kind.Config.quick(**options) if quick else kind.Config(**options)
    return kind(config, **own)
