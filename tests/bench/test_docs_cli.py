"""docs/cli.md is the help of the commands, of `hierseed bench` too."""

from importlib.metadata import entry_points

from hierseed_bench.pages import cli


def test_the_page_of_help_is_up_to_date():
    assert cli.FILE.read_text(encoding="utf-8") == cli.render(), (
        "the help has changed: run python -m hierseed_bench.pages.cli"
    )


def test_the_command_is_an_entry_point():
    names = {entry.name: entry.value for entry in entry_points(group="hierseed.commands")}
    assert names["bench"] == "hierseed_bench.command:bench"
