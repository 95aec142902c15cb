"""A fit that is stopped and called again goes on, and ends with the bits of one that was not."""

import json
import shutil

import numpy as np
import pytest
from worlds import make_world

from hierseed import AnchoredHierSeed, HierSeed
from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.hierseed import loop
from hierseed.core.mixture import em
from hierseed.files import CHECKSUM, with_checksum
from hierseed.io.model_bundle import STATE, Checkpoint, CheckpointWarning, digest_of_documents

METHODS = {
    "hierseed": lambda taxonomy: HierSeed(taxonomy, tol=0.0),
    "anchored": lambda taxonomy: AnchoredHierSeed(taxonomy, max_iter=20, tol=1e-5),
}

STATES = {HierSeed: loop.State, AnchoredHierSeed: em.State}


class Stop(Exception):  # noqa: N818 - what a kill looks like from inside
    pass


@pytest.fixture(scope="module", params=METHODS)
def world(request):
    taxonomy, X, y, _ = make_world("deep", per_leaf=40, width=8, spread=4.0, seed=2)
    method = METHODS[request.param]
    return method, taxonomy, X, y, method(taxonomy).fit(X, y)


def stop_after(number, method, taxonomy, X, y, folder):
    def stop(entry):
        if entry["round"] == number:
            raise Stop

    with pytest.raises(Stop):
        method(taxonomy).fit(X, y, checkpoint=folder, progress=stop)


def learned(model):
    """All that a fit leaves, but for the time it took."""
    header, arrays = model._pack()
    rounds = [{k: v for k, v in entry.items() if k != "seconds"} for entry in model.history_]
    header = {k: v for k, v in header.items() if k != "history"} | {"rounds": rounds}
    return header, {name: array.tobytes() for name, array in arrays.items()}


def test_a_fit_stopped_after_any_round_ends_with_the_same_bits(world, tmp_path):
    method, taxonomy, X, y, whole = world
    assert whole.n_iter_ >= 3
    for number in range(1, whole.n_iter_ + 1):
        folder = tmp_path / str(number)
        stop_after(number, method, taxonomy, X, y, folder)
        seen, said = [], []
        again = method(taxonomy).fit(
            X, y, checkpoint=Checkpoint(folder, said.append),
            progress=seen.append,
        )  # fmt: skip
        rounds = [entry["round"] for entry in seen]
        assert rounds == list(range(number + 1, whole.n_iter_ + 1))  # nothing is done twice
        assert f"after round {number}" in said[0]
        assert learned(again) == learned(whole)


def test_a_fit_that_keeps_its_rounds_is_the_same_fit(world, tmp_path):
    method, taxonomy, X, y, whole = world
    kept = Checkpoint(tmp_path / "kept")
    assert learned(method(taxonomy).fit(X, y, checkpoint=kept)) == learned(whole)
    assert kept.rounds == whole.n_iter_
    kept.remove()
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_of_another_fit_is_left_alone_with_a_warning(world, tmp_path):
    method, taxonomy, X, y, _ = world
    stop_after(2, method, taxonomy, X, y, tmp_path / "kept")
    other_y, other_X = y.copy(), X.copy()
    other_y[np.flatnonzero(y >= 0)[0]] = -1
    other_X[7, 3] += 0.25
    swapped = X.copy()
    swapped[[3, 8]] = X[[8, 3]]
    for word, corpus, seeds, settings in [
        ("seeds", X, other_y, {}),
        ("documents", other_X, y, {}),
        ("documents", swapped, y, {}),
        ("max_iter", X, y, {"max_iter": 3}),
    ]:
        folder = tmp_path / word
        shutil.copytree(tmp_path / "kept", folder, dirs_exist_ok=True)
        model = method(taxonomy).set_params(**settings)
        with pytest.warns(CheckpointWarning, match=rf"another fit \(.*{word}.* differ\)"):
            model.fit(corpus, seeds, checkpoint=folder)
        alone = method(taxonomy).set_params(**settings).fit(corpus, seeds)
        assert learned(model) == learned(alone)


def test_a_damaged_checkpoint_is_left_alone_with_a_warning(world, tmp_path):
    method, taxonomy, X, y, whole = world
    folder = tmp_path / "kept"
    stop_after(1, method, taxonomy, X, y, folder)
    array = next(folder.glob("*.npy"))
    array.write_bytes(array.read_bytes()[:-8])
    with pytest.warns(CheckpointWarning, match="starts again"):
        again = method(taxonomy).fit(X, y, checkpoint=folder)
    assert learned(again) == learned(whole)


def places(value, path=()):
    """Every place in a JSON object, by the keys that lead to it."""
    yield path
    if isinstance(value, dict | list):
        for key, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(below, (*path, key))


@pytest.mark.filterwarnings("ignore::hierseed.io.model_bundle.CheckpointWarning")
def test_a_forged_checkpoint_is_left_alone_or_resumes_without_a_crash(world, tmp_path):
    """Right checksums, a value of another type: any place of the state, each in turn."""
    method, taxonomy, X, y, _ = world
    kept = tmp_path / "kept"
    stop_after(1, method, taxonomy, X, y, kept)
    body = json.loads((kept / STATE).read_text())
    del body[CHECKSUM]
    for path in list(places(body["state"])):
        *above, last = ("state", *path)
        for forged in (None, "x", [7], -1):
            changed = json.loads(json.dumps(body))
            inside = changed
            for key in above:
                inside = inside[key]
            inside[last] = forged
            folder = tmp_path / "forged"
            shutil.copytree(kept, folder)
            (folder / STATE).write_text(json.dumps(with_checksum(changed)))
            state = Checkpoint(folder).open(STATES[type(method(taxonomy))], changed["fit"])
            if state is not None:
                method(taxonomy).fit(X, y, checkpoint=folder)
            shutil.rmtree(folder)


def test_a_folder_of_somebody_else_is_not_touched(world, tmp_path):
    method, taxonomy, X, y, _ = world
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("text")
    with pytest.raises(FileExistsError, match="other files"):
        method(taxonomy).fit(X, y, checkpoint=tmp_path / "mine")


def test_no_pickle_on_disk(world, tmp_path):
    method, taxonomy, X, y, _ = world
    stop_after(1, method, taxonomy, X, y, tmp_path / "kept")
    assert json.loads((tmp_path / "kept" / STATE).read_text())["rounds"] == 1
    for path in (tmp_path / "kept").glob("*.npy"):
        np.load(path, allow_pickle=False)


def test_the_name_of_a_corpus_is_of_its_rows_and_not_of_its_blocks():
    X = np.random.default_rng(0).normal(size=(500, 6)).astype(np.float32)
    names = {
        digest_of_documents(ArrayBlocks(X, block_rows=rows, threads=threads))
        for rows, threads in [(500, 1), (64, 1), (33, 2)]
    }
    assert len(names) == 1
    X[[2, 3]] = X[[3, 2]]  # two that are not among those looked at in full
    assert digest_of_documents(ArrayBlocks(X)) not in names
