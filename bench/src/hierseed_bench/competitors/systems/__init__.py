"""The eight systems of the paper's comparison, each behind the same `fit` and `predict`.

`make_system("hiagm")` gives one with its published settings, `quick=True` a small one for
tests. Their heavy parts (PyTorch and the like) are imported when one is made, not before.
"""

from hierseed_bench.competitors.systems.choose import SYSTEMS, make_system
from hierseed_bench.competitors.systems.system import Config, Examples, System, Task

__all__ = ["SYSTEMS", "Config", "Examples", "System", "Task", "make_system"]
