"""The loaders of WOS, RCV1 and NYT on small files of the published form."""

import gzip
import io
import tarfile

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hierseed.errors import CorpusError
from hierseed_bench.data.catalogue import load_dataset

# ------------------------------------------------------------------ WOS


def test_wos_as_lines(tmp_path):
    (tmp_path / "X.txt").write_text("first abstract\nsecond abstract\nthird\n")
    (tmp_path / "YL1.txt").write_text("0\n5\n5\n")
    (tmp_path / "YL2.txt").write_text("12\n0\n1\n")
    dataset = load_dataset("wos", tmp_path)
    assert dataset.texts == ["first abstract", "second abstract", "third"]
    assert [dataset.taxonomy.paths[t[0]] for t in dataset.labels] == [
        "domain 0 > area 0.12",
        "domain 5 > area 5.0",
        "domain 5 > area 5.1",
    ]
    assert "3 documents where the paper has 46,985" in dataset.notes


def test_wos_lines_must_agree(tmp_path):
    (tmp_path / "X.txt").write_text("a\nb\n")
    (tmp_path / "YL1.txt").write_text("0\n")
    (tmp_path / "YL2.txt").write_text("0\n")
    with pytest.raises(CorpusError, match=r"2 lines.*1 numbers"):
        load_dataset("wos", tmp_path)


@pytest.mark.parametrize("name", ["Data.csv", "Data.txt", "Data.xlsx"])
def test_wos_as_a_table(tmp_path, name):
    frame = pd.DataFrame(
        {
            "Y1": [0, 5],
            "Y2": [12, 47],
            "Y": [12, 99],
            "Domain": ["CS ", "Medical "],
            "area": [" Symbolic computation  ", " HIV/AIDS "],
            "keywords": ["a; b", "c; d"],
            "Abstract": ["(2 + 4)-rooted trees, and more", "a cohort"],
        }
    )
    file = tmp_path / name
    if name.endswith("xlsx"):
        frame.to_excel(file, index=False)
    else:
        frame.to_csv(file, index=False, sep="\t" if name.endswith("txt") else ",")
    dataset = load_dataset("wos", tmp_path)
    assert [dataset.taxonomy.paths[t[0]] for t in dataset.labels] == [
        "CS > Symbolic computation",
        "Medical > HIV/AIDS",
    ]
    assert dataset.texts[0].startswith("(2 + 4)")


# ------------------------------------------------------------------ RCV1

HIERARCHY = """\
parent: None  child: Root   child-description: Root
parent: Root  child: CCAT   child-description: CORPORATE/INDUSTRIAL
parent: CCAT  child: C15    child-description: PERFORMANCE
parent: C15   child: C151   child-description: ACCOUNTS/EARNINGS
parent: Root  child: GCAT   child-description: GOVERNMENT/SOCIAL
"""
QRELS = "CCAT 2286 1\nC15 2286 1\nC151 2286 1\nGCAT 2286 1\nGCAT 26151 1\nCCAT 26152 1\n"


@pytest.fixture
def rcv1(tmp_path):
    (tmp_path / "rcv1.topics.hier.orig").write_text(HIERARCHY)
    with gzip.open(tmp_path / "rcv1-v2.topics.qrels.gz", "wt") as file:
        file.write(QRELS)
    (tmp_path / "lyrl2004_tokens_train.dat").write_text(".I 2286\n.W\nrecov recov\nexcit\n\n")
    (tmp_path / "lyrl2004_tokens_test_pt0.dat").write_text(
        ".I 26151\n.W\nrebel\n\n.I 26152\n.W\nshare rise\n\n.I 26153\n.W\nnone\n"
    )
    return tmp_path


def test_rcv1_tokens_with_ancestors_reduced_to_the_most_specific(rcv1):
    dataset = load_dataset("rcv1", rcv1)
    paths = [[dataset.taxonomy.paths[t] for t in topics] for topics in dataset.labels]
    assert paths == [["CCAT > C15 > C151", "GCAT"], ["GCAT"], ["CCAT"]]
    assert dataset.texts == ["recov recov excit", "rebel", "share rise"]
    assert dataset.part.tolist() == ["train", "test", "test"]
    assert dataset.taxonomy.descriptions[0] == "CORPORATE/INDUSTRIAL"
    assert "1 stories without a topic were left out" in dataset.notes
    assert "1 training documents where the paper has 23,149" in dataset.notes


def test_rcv1_from_the_nist_text(rcv1):
    for file in rcv1.glob("*.dat"):
        file.unlink()
    (rcv1 / "rcv1-v2.topics.qrels.gz").unlink()
    story = (
        '<newsitem itemid="{}"><title>T</title><headline>H</headline><text><p>one</p>'
        '<p>two</p></text><metadata><codes class="bip:topics:1.0"><code code="C15"/>'
        '<code code="XXX"/></codes><codes class="bip:countries:1.0"><code code="GCAT"/></codes>'
        "</metadata></newsitem>"
    )
    (rcv1 / "disc").mkdir()
    for number in (2287, 99999):
        (rcv1 / "disc" / f"{number}newsML.xml").write_text(story.format(number))
    dataset = load_dataset("rcv1", rcv1)
    assert dataset.texts == ["T one two"] * 2
    assert dataset.part.tolist() == ["train", "test"]
    paths = [[dataset.taxonomy.paths[t] for t in topics] for topics in dataset.labels]
    assert paths == [["CCAT > C15"]] * 2


def test_rcv1_labels_from_the_copy_that_scikit_learn_keeps(rcv1):
    (rcv1 / "rcv1-v2.topics.qrels.gz").unlink()
    (rcv1 / "RCV1").mkdir()
    parts = {
        "samples": sparse.csr_matrix(np.eye(3)),
        "sample_id": np.array([2286, 26151, 26152], dtype=np.uint32),
        "sample_topics": sparse.csr_matrix([[1, 0, 0], [0, 1, 1], [0, 0, 1]]),
        "topics_names": np.array(["C15", "GCAT", "ZZZ"], dtype=object),
    }
    for name, value in parts.items():
        joblib.dump(value, rcv1 / "RCV1" / f"{name}_py3.pkl")
    dataset = load_dataset("rcv1", rcv1)
    paths = [[dataset.taxonomy.paths[t] for t in topics] for topics in dataset.labels]
    assert paths == [["CCAT > C15"], ["GCAT"]]
    assert dataset.ids == ["2286", "26151"]


def test_rcv1_without_texts_says_where_to_look(rcv1):
    for file in rcv1.glob("*.dat"):
        file.unlink()
    with pytest.raises(CorpusError, match="lyrl2004_tokens"):
        load_dataset("rcv1", rcv1)


# ------------------------------------------------------------------ NYT

ARTICLE = """<?xml version="1.0"?><nitf><head><docdata><doc-id id-string="{id}"/>
<identified-content><classifier class="online_producer" type="taxonomic_classifier">{topic}
</classifier><classifier type="taxonomic_classifier">Top/News</classifier>
<classifier class="online_producer" type="descriptor">Top/Opinion</classifier>
</identified-content></docdata></head><body><body.head><hedline><hl1>Head</hl1></hedline>
</body.head><body.content><block class="lead_paragraph"><p>Lead</p></block>
<block class="full_text"><p>Lead</p><p>Rest</p></block></body.content></body></nitf>"""


@pytest.fixture
def nyt(tmp_path):
    lines = ["Root\tTop/News\tTop/Opinion", "Top/News\tTop/News/World\tTop/News/U.S."]
    (tmp_path / "nyt.taxonomy").write_text("\n".join(lines) + "\n")
    (tmp_path / "1987").mkdir()
    article = ARTICLE.format(id="17", topic="Top/News/World")
    (tmp_path / "1987" / "0000017.xml").write_text(article)
    with tarfile.open(tmp_path / "01.tgz", "w:gz") as archive:
        for number, topic in [(18, "Top/News/U.S."), (19, "Top/News/Unknown")]:
            content = ARTICLE.format(id=number, topic=topic).encode()
            member = tarfile.TarInfo(f"01/{number:07}.xml")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return tmp_path


def test_nyt_articles_unpacked_and_packed(nyt):
    dataset = load_dataset("nyt", nyt)
    assert dataset.ids == ["17", "18", "19"]
    assert [[dataset.taxonomy.paths[t] for t in topics] for topics in dataset.labels] == [
        ["News > World"],
        ["News > U.S."],
        ["News"],
    ]
    assert dataset.texts[0] == "Head Lead Rest"
    assert dataset.part is None
    assert "4 topics where the paper has 166" in dataset.notes


def test_nyt_lists_choose_the_documents_and_the_split(nyt):
    (nyt / "train.txt").write_text("17\n")
    (nyt / "test.txt").write_text("18\n")
    dataset = load_dataset("nyt", nyt)
    assert dataset.ids == ["17", "18"]
    assert dataset.part.tolist() == ["train", "test"]


def test_the_published_nyt_tree_has_the_papers_size(shared_data):
    from hierseed_bench.data.nyt import read_paths

    taxonomy, topics = read_paths(shared_data / "paper_taxonomies" / "nyt.taxonomy")
    assert len(taxonomy) == len(topics) == 166
    assert taxonomy.tree.height == 8
