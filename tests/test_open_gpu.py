"""A GPU is opened in the background; where there is none, nothing is said before it is used."""

import subprocess
import sys

import pytest

from hierseed import MissingDependency
from hierseed.engines import choose
from hierseed.engines.choose import Engine

CODE = """
import sys, types
class Torch(types.ModuleType):
    float64 = None
    class cuda:
        @staticmethod
        def is_available(): {available}
sys.modules["torch"] = Torch("torch")
from hierseed.open_gpu import begin_opening, wait_until_open
begin_opening("cuda:1")
begin_opening("cuda:1")
wait_until_open()
print("went on", "numpy" in sys.modules)
"""


@pytest.mark.parametrize("available", ["return False", "raise OSError('a broken driver')"])
def test_nothing_is_raised_and_nothing_is_imported_for_it(available):
    code = CODE.format(available=available)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("went on False\n", "")


def test_a_missing_torch_is_said_before_the_inputs_are_read(monkeypatch):
    monkeypatch.setattr(choose, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"pip install 'hierseed\[gpu\]'"):
        Engine(device="cuda").check()


def test_without_a_device_torch_is_not_needed(monkeypatch):
    monkeypatch.setattr(choose, "find_spec", lambda name: None)
    Engine().check()
