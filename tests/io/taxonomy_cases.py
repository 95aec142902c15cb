"""What the tests of taxonomy files share: ways to write, a nasty tree, random trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from hierseed.io.taxonomies import FORMATS
from hierseed.io.taxonomies.build import Source
from hierseed.taxonomy import Taxonomy
from hierseed.topics import name_fault

# Every format in each of its layouts.
WAYS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in FORMATS),
    *(("csv", {"layout": layout}) for layout in ("levels", "path")),
    ("csv", {"layout": "codes", "renumber": True}),
    ("xlsx", {"layout": "levels"}),
    *(("json", {"layout": layout}) for layout in ("nested", "corpus")),
    *(("yaml", {"layout": layout}) for layout in ("nested", "records")),
    ("csv", {"delimiter": ";"}),
    ("turtle", {"language": "pt-BR", "base": "https://example.org/topics/"}),
]
KEEPS_ORDER = {"paths", "csv", "tsv", "xlsx", "turtle", "rdf-xml", "json-ld"}


def way_name(way: Any) -> str:
    if isinstance(way, tuple):
        return "-".join([way[0], *(str(value) for value in way[1].values())])
    return ""


def read_bytes(name: str, data: bytes | str, **options: Any) -> Taxonomy:
    """Read without a file, for the many small cases."""
    data = data.encode() if isinstance(data, str) else data
    return FORMATS[name].read(Source(f"topics{FORMATS[name].endings[0]}", data), **options)


def written(taxonomy: Taxonomy, name: str, **options: Any) -> bytes:
    content = FORMATS[name].write(taxonomy, **options)
    return content.encode() if isinstance(content, str) else content


def branches(taxonomy: Taxonomy) -> dict[str, list[str]]:
    """Children of each path in order: what every format must keep."""
    return {
        path: [taxonomy.names[child] for child in taxonomy.tree.children(topic)]
        for topic, path in [(-1, ""), *enumerate(taxonomy.paths)]
    }


def save(folder: Path, name: str, text: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


# Each name has broken an importer somewhere.
NASTY = Taxonomy.from_paths(
    [
        "#MeToo > Other",
        "\\# not a comment",
        "No > 1.10 > 2020-01-01",
        "null > ~ > yes",
        "- dash > * star > 1. one",
        "1 - one > HIV/AIDS",
        "HIV > HIV/AIDS > HIV/AIDS/x",
        'say "hi", they > it\'s; a | bar',
        "=1+1 > +x > @y",
        "<b>&amp; > {curly} > [square]",
        "name > children > code",
        "日本語 > émigré > 🙂 smile",
        "sep=; > Root > root",
        "> > B".replace("> >", "a>b >"),
        "@prefix x: <y> > A:B: C > key: value # no",
        "General > General > General",
        "Other > Other (unlisted)",
        "trailing\\ > back\\slash",
        "Z\u00a0nbsp > a  b",
    ]
)

_LETTERS = st.characters(exclude_categories=["Cs"]) | st.sampled_from(
    " >-#:;,'\"\\/.@=*1aA[]{}&!|%"
)
names = st.text(_LETTERS, min_size=1, max_size=8).map(str.strip).filter(lambda x: not name_fault(x))


@st.composite
def taxonomies(draw: st.DrawFn, texts: bool = True) -> Taxonomy:
    """Random trees of up to 12 topics, often with codes and descriptions."""
    n = draw(st.integers(1, 12))
    parent = [draw(st.integers(-1, i - 1)) for i in range(n)]
    chosen: list[str] = []
    for i in range(n):
        taken = {chosen[k] for k in range(i) if parent[k] == parent[i]}
        chosen.append(draw(names.filter(lambda x, taken=taken: x not in taken)))
    codes = draw(st.lists(names, min_size=n, max_size=n, unique=True)) if texts else [""] * n
    if texts and draw(st.booleans()):
        codes = [code if draw(st.booleans()) else "" for code in codes]
    descriptions = [draw(st.text(max_size=20)) if texts else "" for _ in range(n)]
    return Taxonomy(chosen, parent, codes=codes, descriptions=descriptions)
