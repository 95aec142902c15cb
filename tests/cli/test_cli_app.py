"""The frame of the command line: help, exit codes, one message and no traceback."""

import errno
import importlib.util
import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from cli_project import heed_ctrl_c
from typer.testing import CliRunner, Result

import hierseed
from hierseed.cli import app as frame
from hierseed.cli import console
from hierseed.cli.console import STOPPED, guarded
from hierseed.errors import SeedError, explain_os_error
from hierseed.progress import amount, duration

Run = Callable[..., Result]
DOCS = Path(__file__).resolve().parents[2] / "docs"
COMMANDS = [name for name in frame.COMMANDS if importlib.util.find_spec(f"hierseed.cli.{name}")]


def run_guarded(fault: BaseException) -> Result:
    app = typer.Typer(pretty_exceptions_enable=False)

    def work() -> None:
        raise fault

    app.command()(guarded("work", work))
    return CliRunner().invoke(app, [])


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        (SeedError("no seeds here"), 1, "hierseed work: no seeds here"),
        (
            PermissionError(errno.EACCES, "Permission denied", "t.csv"),
            1,
            "t.csv: Permission denied",
        ),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "No space left on device. Free some"),
        (MemoryError(), 1, "memory"),
        (KeyboardInterrupt(), STOPPED, "stopped. No file is incomplete"),
    ],
)
def test_expected_faults_are_one_message(fault: BaseException, code: int, said: str) -> None:
    result = run_guarded(fault)
    assert result.exit_code == code
    assert said in result.stderr
    assert result.stdout == ""


def test_a_fault_as_json_is_on_stdout_too() -> None:
    app = typer.Typer(pretty_exceptions_enable=False)

    def work(json: bool = False) -> None:
        raise SeedError("no seeds here")

    app.command()(guarded("work", work))
    done = CliRunner().invoke(app, ["--json"])
    assert json.loads(done.stdout) == {"error": "no seeds here"}
    assert "hierseed work: no seeds here" in done.stderr


def test_notes_of_the_library_line_up_and_keep_quiet() -> None:
    app = typer.Typer(pretty_exceptions_enable=False)

    def work(quiet: bool = False) -> None:
        warnings.warn("2 leaves have no seed", stacklevel=1)

    app.command()(guarded("work", work))
    assert CliRunner().invoke(app, []).stderr == "Note       2 leaves have no seed\n"
    assert CliRunner().invoke(app, ["--quiet"]).stderr == ""


def test_a_fault_of_ours_is_not_hidden() -> None:
    result = run_guarded(ZeroDivisionError("a bug"))
    assert isinstance(result.exception, ZeroDivisionError)


def test_a_message_is_never_broken_or_read_as_markup() -> None:
    long = "/" + "folder/" * 40 + "[bold]file[/bold].csv"
    assert long in run_guarded(SeedError(long)).stderr


def test_an_error_of_the_system_names_the_file() -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "/mnt/t.csv")
    assert explain_os_error(full) == (
        "/mnt/t.csv: No space left on device. Free some space, or write to another disk"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_table_is_the_first_of_the_help(name: str) -> None:
    command = frame._command(name, {})
    said = command.info.help if isinstance(command, typer.Typer) else command.__doc__
    assert str(said).strip().split("\n")[0] == frame.COMMANDS[name][1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, hierseed: Run) -> None:
    for option in ("--help", "-h"):
        done = hierseed(name, option)
        assert done.exit_code == 0
        assert "Usage: hierseed" in done.stdout


def test_slips_of_the_command_line_are_exit_code_2(hierseed: Run) -> None:
    assert hierseed("fit").exit_code == 2
    assert hierseed("fit", "--no-such-option").exit_code == 2
    assert hierseed("nonsense").exit_code == 2


def test_version() -> None:
    done = CliRunner().invoke(frame.make_app(), ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"hierseed {hierseed.__version__}\n")


HEAVY = {"numpy", "scipy", "sklearn", "pandas", "pyarrow", "rdflib", "nicegui", "torch"}


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; sys.argv = ['hierseed', '--help']\n"
    code += "from hierseed.cli import main\ntry:\n    main()\n"
    code += "except SystemExit:\n    print('MODULES', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY.intersection(done.stdout.split("MODULES")[1].split())


def test_the_shell_can_complete(tmp_path: Path) -> None:
    typed = {"COMP_WORDS": "hierseed fit --se", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", "from hierseed.cli import main; main()"],
        env=os.environ | typed | {"_HIERSEED_COMPLETE": "complete_bash"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert {"--seeds", "--set", "--seeds-from-names"} <= set(done.stdout.split())


def test_output_into_a_closed_pipe_is_no_fault() -> None:
    code = "from hierseed.cli.console import guarded\nimport sys, typer\n"
    code += "def talk():\n    for i in range(10**6): print(i)\n"
    code += (
        "try:\n    guarded('talk', talk)()\nexcept typer.Exit as end:\n    sys.exit(end.exit_code)"
    )
    done = subprocess.run(
        ["bash", "-c", f'set -o pipefail; {sys.executable} -c "$0" | head -1', code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_in_one_line(tmp_path: Path, sent: int) -> None:
    """The command waits in a named pipe until the signal comes."""
    os.mkfifo(tmp_path / "docs.csv")
    code = (
        "from hierseed.io import records\n"
        "records.refuse_special = lambda path: None  # a pipe is refused otherwise\n"
        "from hierseed.cli import main\nmain()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, "check", "-c", str(tmp_path / "docs.csv")],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_ctrl_c,
    ) as child:
        pipe = os.open(tmp_path / "docs.csv", os.O_WRONLY)  # waits until the command reads
        os.kill(child.pid, sent)
        _, said = child.communicate(timeout=600)
        os.close(pipe)
    assert child.returncode == STOPPED
    assert said == "hierseed check: stopped. No file is incomplete; run it again to resume\n"


def test_a_log_has_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for between, said in [(0.0, "Embedding  7 of 9 documents"), (1e9, "")]:
        monkeypatch.setattr(console, "LOG_INTERVAL", between)
        with console.Console().bar("Embedding", 9) as bar:
            bar.to(7)
        assert capsys.readouterr().err.strip() == said  # rich before 15 ends with a line break


def test_numbers_as_people_say_them() -> None:
    spoken = [duration(s) for s in (0.04, 9.96, 42, 100, 3599.7, 7500)]
    assert spoken == ["0.0 s", "10.0 s", "42 s", "1 min 40 s", "1 h 0 min", "2 h 5 min"]
    assert amount(1, "row") == "1 row"
    assert amount(34488, "document") == "34,488 documents"


def test_a_command_of_another_distribution_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setattr(frame, "entry_points", lambda group: [])
    with pytest.raises(SystemExit) as left:
        frame.make_app({"bench"})(["bench", "quick", "--jobs", "2"])
    assert left.value.code == 1
    assert "pip install hierseed-bench" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by setrlimit on Linux")
def test_without_memory_there_is_advice(tmp_path: Path) -> None:
    """A table of vectors that does not fit, in a process that may not have more."""
    code = (
        "import resource, numpy\n"
        "from hierseed.cli.console import guarded\n"
        "limit = 4 << 30\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "guarded('fit', lambda: numpy.ones(1 << 33))()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "this computer has not enough memory" in done.stderr
    assert "docs/scale.md" in done.stderr
