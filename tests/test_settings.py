"""Settings: one parser for `fit --set`, benchmark and workbench; methods that take the same."""

from inspect import signature

import pytest

from hierseed.errors import ParameterError
from hierseed.estimators.parameters import METHODS, parse_settings


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


@pytest.mark.parametrize("name", ["fit", "assign"])
def test_all_methods_take_the_same_arguments_in_the_same_order(name):
    taken = {str(signature(getattr(m.estimator, name)).replace(return_annotation="")) for m in
             METHODS.values()}  # fmt: skip
    assert len(taken) == 1, taken


def test_settings_that_methods_share_stand_in_the_same_order():
    orders = [method.parameters for method in METHODS.values()]
    shared = set.intersection(*map(set, orders))
    assert shared >= {"other", "max_iter", "tol", "n_jobs"}
    assert len({tuple(name for name in order if name in shared) for order in orders}) == 1
