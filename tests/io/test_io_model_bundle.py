"""A model folder comes back as it was, or is refused with a reason."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hierseed import Taxonomy
from hierseed.errors import ModelError
from hierseed.io.model_bundle import ModelBundle, read_bundle, write_bundle
from hierseed.text_model import load

TAXONOMY = Taxonomy.from_paths(["Health > Mental health", "Safety > Guns"]).with_others([0, -1])
HEADER = {"alpha": 1.1, "history": [{"round": 1, "objective": np.float32(2.5)}], "n": np.int64(3)}
ARRAYS = {
    "vectors": np.arange(24, dtype=np.float32).reshape(6, 4),
    "radii": np.array([1.5, np.nan, np.inf]),
    "labels": np.array([0, -1, 3]),
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    write_bundle(ModelBundle("HierSeed", HEADER, ARRAYS, TAXONOMY), folder)
    return folder


def edit(model: Path, **changes: Any) -> None:
    file = model / "model.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_round_trip(model: Path) -> None:
    found = read_bundle(model)
    assert found.kind == "HierSeed"
    assert found.preparation is None
    assert found.text == {}
    arrays = found.arrays
    assert found.header == {"alpha": 1.1, "history": [{"round": 1, "objective": 2.5}], "n": 3}
    assert found.taxonomy == TAXONOMY
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_two_saves_are_equal_byte_for_byte(model: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    write_bundle(ModelBundle("HierSeed", HEADER, ARRAYS, TAXONOMY), again)
    for file in model.iterdir():
        assert file.read_bytes() == (again / file.name).read_bytes()


@pytest.mark.parametrize("name", ["model.json", "vectors.npy", "labels.npy"])
@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "remove", "append"])
def test_any_damaged_file_is_refused_by_name(model: Path, name: str, damage: str) -> None:
    file = model / name
    whole = bytearray(file.read_bytes())
    if damage == "cut":
        file.write_bytes(whole[:-7])
    elif damage == "flip":
        spot = whole.index(b"Guns") if name == "model.json" else len(whole) - 3
        whole[spot] ^= 1
        file.write_bytes(whole)
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "remove":
        file.unlink()
    else:
        file.write_bytes(whole + b"x")
    with pytest.raises(ModelError, match=name.replace(".", r"\.")):
        read_bundle(model)


def test_every_damaged_array_is_named_at_once(model: Path) -> None:
    (model / "vectors.npy").write_bytes(b"")
    (model / "radii.npy").unlink()
    with pytest.raises(ModelError, match=r"2 of the files.*vectors\.npy.*radii\.npy is missing"):
        read_bundle(model)


def test_a_newer_version_is_refused_with_the_upgrade_line(model: Path) -> None:
    edit(model, version=3)
    with pytest.raises(ModelError, match=r"version 3 .* up to version 2.*pip install --upgrade"):
        read_bundle(model)


def test_another_kind_of_json_is_refused(model: Path) -> None:
    edit(model, format="something-else")
    with pytest.raises(ModelError, match="something-else"):
        read_bundle(model)
    (model / "model.json").write_text("[1, 2]")
    with pytest.raises(ModelError, match="holds a list"):
        read_bundle(model)


def test_a_folder_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no model\.json"):
        read_bundle(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match=r"no model\.json"):
        read_bundle(tmp_path / "file")


def test_a_pickle_in_place_of_an_array_is_never_run(model: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    (model / "vectors.npy").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelError):
        read_bundle(model)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("name", ["../escape", ".hidden", "a/b", ""])
def test_array_names_stay_in_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="can't be saved"):
        write_bundle(ModelBundle("X", {}, {name: [1]}, TAXONOMY), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_python_objects_are_no_arrays(tmp_path: Path) -> None:
    objects = {"a": np.array([None, "x"], dtype=object)}
    with pytest.raises(ModelError, match="Python objects"):
        write_bundle(ModelBundle("X", {}, objects, TAXONOMY), tmp_path / "m")


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    write_bundle(ModelBundle("Oracle", {}, {}, TAXONOMY), tmp_path / "m")
    with pytest.raises(ModelError, match=r"'Oracle'.*'HierSeed'"):
        load(tmp_path / "m")


def test_a_model_of_another_version_of_its_class_is_refused(model: Path) -> None:
    with pytest.raises(ModelError, match=r"differs from this one.*Fit again"):
        load(model)  # its header lacks what HierSeed needs


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
numbers = hnp.scalar_dtypes().filter(lambda dtype: dtype.kind in "biuf")
tables = hnp.arrays(numbers, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))


@settings(max_examples=40, deadline=None)
@given(header=st.dictionaries(st.text(), json_values, max_size=4), array=tables)
def test_any_header_and_array_come_back(
    tmp_path_factory: pytest.TempPathFactory, header: dict[str, Any], array: Any
) -> None:
    folder = tmp_path_factory.mktemp("any") / "model"
    write_bundle(ModelBundle("K", header, {"a": array}, TAXONOMY), folder)
    found = read_bundle(folder)
    assert found.header == header
    np.testing.assert_array_equal(found.arrays["a"], array)
