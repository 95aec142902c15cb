"""Read ahead in a thread, so that the disk and the embedder work at the same time."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from typing import TypeVar, cast

Item = TypeVar("Item")


def read_ahead(items: Iterable[Item], depth: int = 2) -> Generator[Item]:
    """Yield the same items, with up to `depth` of them read before they are asked for.

    An exception of the source is raised here, at its place. Closing the generator ends the thread.
    """
    ready: queue.Queue[tuple[str, object]] = queue.Queue(maxsize=depth)
    stop = threading.Event()

    def hand_over(kind: str, value: object) -> bool:
        while not stop.is_set():
            try:
                ready.put((kind, value), timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def read() -> None:
        try:
            for item in items:
                if not hand_over("item", item):
                    return
            hand_over("end", None)
        except BaseException as fault:
            hand_over("fault", fault)

    thread = threading.Thread(target=read, name="hierseed-reader", daemon=True)
    thread.start()
    try:
        while True:
            kind, value = ready.get()
            if kind == "end":
                return
            if kind == "fault":
                raise cast(BaseException, value)
            yield cast(Item, value)
    finally:
        stop.set()
        thread.join()
