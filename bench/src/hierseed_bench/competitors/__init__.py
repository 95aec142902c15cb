"""Other systems for the same job, each with `fit(task)` and `predict(documents)`."""

from hierseed_bench.competitors.task import Documents, Method, Task

__all__ = ["Documents", "Method", "Task"]
