"""Settings as text: one parser for `fit --set`, the benchmark and the workbench."""

import pytest

from hierseed.errors import ParameterError
from hierseed.estimators.parameters import parse_settings


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", False),
        ("yes", True),
        ("None", None),
        ("5", 5),
        ("[1, 2]", [1, 2]),
        ("below", "below"),
    ],
)
def test_values_are_read_as_people_write_them(text, value):
    assert parse_settings([f"other={text}"]) == {"other": value}


def test_a_wrong_name_lists_all_names_and_the_nearest():
    with pytest.raises(ParameterError, match=r"seed_weight, other.*mean 'seed_weight'"):
        parse_settings(["seed_wieght=5"], ["seed_weight", "other"])


@pytest.mark.parametrize("setting", ["other", "=5"])
def test_a_setting_without_name_or_value_is_refused(setting):
    with pytest.raises(ParameterError, match="NAME=VALUE"):
        parse_settings([setting])
