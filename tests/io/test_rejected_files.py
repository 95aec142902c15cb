"""Faults in a file of rejections are reported as such."""

from pathlib import Path

import pytest

import hierseed
from hierseed.errors import HierSeedError

TEXTS = {f"d{i}": f"cats and dogs {i}" for i in range(8)}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\nx,1\n", "the rejections can't be read"),
        ("id,topic\nd99,A\n", "1 of 1 rejected documents are not in the corpus"),
    ],
)
def test_faults_name_the_rejections(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "rejected.csv").write_text(content)
    with pytest.raises(HierSeedError) as fault:
        hierseed.fit(
            TEXTS, ["A", "B"], {"A": ["d1"], "B": ["d2"]}, rejected=tmp_path / "rejected.csv"
        )
    assert said in str(fault.value)
    assert "seed" not in str(fault.value).replace("seed_id", "")


def test_faults_of_seeds_name_the_seeds(tmp_path: Path) -> None:
    (tmp_path / "seeds.csv").write_text("id,topic\nd99,A\nd1,B\n")
    with pytest.raises(HierSeedError, match="1 of 2 seed documents are not in the corpus"):
        hierseed.fit(TEXTS, ["A", "B"], tmp_path / "seeds.csv")
