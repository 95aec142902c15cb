"""The `hierseed` script ends at once and loses nothing: exit code, output, clean-up."""

import os
import subprocess
import sys

import pytest

START = "import atexit, sys; from hierseed.cli import app; atexit.register(print, 'tidied')\n"


def ended(code):
    return subprocess.run([sys.executable, "-c", START + code], capture_output=True, text=True)


@pytest.mark.parametrize(("raised", "code"), [("SystemExit(3)", 3), ("SystemExit", 0)])
def test_code_output_and_clean_up(raised, code):
    done = ended(f"def main(): print('said'); raise {raised}\napp.main = main; app.run()")
    assert (done.returncode, done.stdout, done.stderr) == (code, "said\ntidied\n", "")


def test_the_message_of_an_exit_is_printed():
    done = ended("def main(): raise SystemExit('why')\napp.main = main; app.run()")
    assert (done.returncode, done.stderr) == (1, "why\n")


def test_objects_are_not_finalized_at_exit():
    code = "class Slow:\n    def __del__(self): print('finalized')\n"
    done = ended(f"{code}kept = Slow()\napp.main = lambda: None\napp.run()")
    assert done.stdout == "tidied\n"


def test_a_reader_that_has_gone_is_no_fault():
    code = "def main(): sys.stdin.read(); print('said')\napp.main = main; app.run()"
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command, held = [sys.executable, "-c", START + code], {**os.environ, "PYTHONUNBUFFERED": ""}
    with subprocess.Popen(command, env=held, text=True, **pipes) as child:
        child.stdout.close()
        child.stdin.close()
        assert child.stderr.read() == ""
    assert child.returncode == 0
