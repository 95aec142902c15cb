"""Functions that tests call on worker processes."""

import os
import signal
import time
from pathlib import Path

from hierseed.errors import CorpusError


def square(number):
    print("a library prints")  # must not get between the answers
    time.sleep(0.02 * (number % 3))  # later tasks end before earlier ones
    return number**2


def die_once(marker):
    """Kill the process that runs this, unless it has been done before."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(_):
    raise CorpusError("docs.csv is empty.", "Name another with {text:body}")


class UnpicklableError(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def raise_unpicklable(_):
    raise UnpicklableError("a", "b")


def process_id(_):
    return os.getpid()
