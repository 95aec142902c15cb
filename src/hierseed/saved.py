"""Objects that other processes load by themselves: what travels is the way to load them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any


class Saved:
    """Stands in for `load(*args)`; each process calls that once, when an attribute is asked for.

    Parameters
    ----------
    load : function of a module; other processes import it
    *args : hashable, such as the absolute path of a folder
    """

    def __init__(self, load: Callable[..., Any], *args: Any) -> None:
        self._way = load, args

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") or attribute == "_way":  # asked for by pickle
            raise AttributeError(attribute)
        load, args = self._way
        return getattr(_loaded(load, *args), attribute)


@lru_cache(maxsize=4)
def _loaded(load: Callable[..., Any], *args: Any) -> Any:
    return load(*args)
