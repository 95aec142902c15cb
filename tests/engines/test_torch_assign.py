"""`assign` on a device of torch: the same table as on the CPU. On a GPU if there is one."""

import numpy as np
import pandas as pd
import pytest
from worlds import make_world

import hierseed
from hierseed.engines.choose import Engine
from hierseed.errors import CorpusError

torch = pytest.importorskip("torch", reason="the extra 'gpu' is not installed")
DEVICE = Engine(device="cuda" if torch.cuda.is_available() else "cpu")


@pytest.fixture(scope="module")
def world():
    taxonomy, X, y, _ = make_world("deep", per_leaf=40, width=12, spread=1.1)
    seeds = {taxonomy.paths[t]: np.flatnonzero(y == t).tolist() for t in np.unique(y[y >= 0])}
    return hierseed.fit(X, taxonomy, seeds), X


def test_the_table_of_a_device_is_that_of_the_processor(world, tmp_path):
    model, X = world
    tables = []
    for name, engine in (("device", DEVICE), ("processor", None)):
        model.write_table(X, tmp_path / f"{name}.csv", engine=engine)
        tables.append(pd.read_csv(tmp_path / f"{name}.csv"))
    pd.testing.assert_frame_equal(*tables, rtol=1e-9)
    assert tables[0]["topic"].tolist() == tables[1]["topic"].tolist()


def test_rows_that_are_no_numbers_are_refused_on_a_device(world):
    model, X = world
    X = X.copy()
    X[3, 1] = np.nan
    with pytest.raises(CorpusError, match="3"):
        model.assign(X, engine=DEVICE)
