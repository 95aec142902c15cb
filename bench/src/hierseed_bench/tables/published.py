"""The paper's own numbers: corpus sizes (Table 1) and results (Tables 2 to 5)."""

from __future__ import annotations

from typing import NamedTuple

from hierseed_bench.data.dataset import Dataset


class Counts(NamedTuple):
    """A column of Table 1; training documents are seeds and fitting set together."""

    topics: int
    levels: int
    train: int
    test: int
    seeds: int


TABLE_1 = {
    "wos": Counts(141, 2, 37_588, 9_397, 532),
    "nyt": Counts(166, 8, 29_179, 7_292, 290),
    "rcv1": Counts(103, 4, 23_149, 781_265, 390),
}

DATASETS = ("wos", "nyt", "rcv1")  # order of the columns below: B-cubed F1, then V-measure
Row = tuple[float, float, float, float, float, float]

TABLE_2: dict[str, Row] = {
    "hdltex": (0.2349, 0.4840, 0.4231, 0.0793, 0.2253, 0.1614),
    "hiagm": (0.4044, 0.4065, 0.4567, 0.3467, 0.2264, 0.2754),
    "hilap": (0.1858, 0.3451, 0.4279, 0.1383, 0.1098, 0.1602),
    "hft": (0.3055, 0.4079, 0.5041, 0.2729, 0.1562, 0.3422),
    "unfit": (0.5414, 0.5040, 0.4923, 0.5569, 0.4316, 0.3952),
    "weshclass": (0.6420, 0.5008, 0.6034, 0.5984, 0.4461, 0.4289),
    "hlda": (0.1972, 0.3811, 0.3873, 0.1984, 0.1781, 0.2336),
    "tsntm": (0.2262, 0.3349, 0.3726, 0.1916, 0.2052, 0.3026),
    "josh": (0.5940, 0.4692, 0.5366, 0.5927, 0.4447, 0.3591),
    "hierseed": (0.7131, 0.6173, 0.6546, 0.7661, 0.5340, 0.4815),
}
TABLE_3: dict[str, Row] = {  # the four classifiers with all labels
    "hdltex": (0.7310, 0.6483, 0.6163, 0.6446, 0.6820, 0.4155),
    "hiagm": (0.7528, 0.5802, 0.6363, 0.6531, 0.5904, 0.3897),
    "hilap": (0.5641, 0.5116, 0.6438, 0.5430, 0.3083, 0.4037),
    "hft": (0.6943, 0.7130, 0.6902, 0.7372, 0.6133, 0.5472),
    "hierseed": (0.7131, 0.6173, 0.6546, 0.7661, 0.5340, 0.4815),
}
TABLE_4: dict[int, Row] = {  # HierSeed by seeds a topic
    2: (0.6701, 0.6078, 0.6654, 0.7395, 0.5021, 0.5073),
    4: (0.7131, 0.6173, 0.6546, 0.7661, 0.5340, 0.4815),
    6: (0.7284, 0.6388, 0.6870, 0.7762, 0.5452, 0.5225),
    8: (0.7288, 0.6410, 0.6926, 0.7892, 0.5538, 0.5318),
}
TABLE_5: dict[str, Row] = {  # HierSeed by embedding
    "RoBERTa": (0.7131, 0.6173, 0.6546, 0.7661, 0.5340, 0.4815),
    "GloVe-300d": (0.7039, 0.6191, 0.6692, 0.7524, 0.5272, 0.5188),
    "fastText": (0.7125, 0.6202, 0.6524, 0.7574, 0.5033, 0.4594),
}


def differences(name: str, dataset: Dataset) -> list[str]:
    """Differences between a copy and the paper's counts; none for a copy that is marked partial."""
    expected = TABLE_1[name]
    found = {
        "topics": (len(dataset.taxonomy), expected.topics),
        "levels": (dataset.taxonomy.tree.height, expected.levels),
        "documents": (len(dataset), expected.train + expected.test),
    }
    if dataset.part is not None:
        found["training documents"] = (int((dataset.part == "train").sum()), expected.train)
    return [
        f"{have:,} {what} where the paper has {want:,}"
        for what, (have, want) in found.items()
        if have != want
    ]
