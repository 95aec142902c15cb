"""Parent, TAB, children: the form of research code (`*.taxonomy`, `label_hier.txt`).

Labels are global, so a file may spell them as whole paths (`Top/News/World` under
`Top/News`). Where every label below level 1 does, names are the last parts and the whole
label is kept as the code, because that is what the labels of its documents look like.
"""

from __future__ import annotations

from collections import Counter

from hierseed.errors import TaxonomyError, name_some
from hierseed.io.taxonomies.build import Entry, Source, build, link
from hierseed.io.taxonomies.paths import escape, is_content, unescape
from hierseed.taxonomy import Taxonomy

ROOT = "Root"
SLASH = "/"


def read(source: Source, *, root: str = ROOT, parent: str = "all") -> Taxonomy:
    """Read lines of a parent and its children; `root` names the node above level 1."""
    entries: dict[str, Entry] = {}
    for number, line in enumerate(source.lines, 1):
        if not is_content(line):
            continue
        above, *children = (label.strip() for label in unescape(line).split("\t"))
        where = f"line {number}"
        if not above or not all(children[:-1]):
            source.fault(where, "an empty label; write parent, TAB, children without gaps")
            continue
        if above != root:
            entries.setdefault(above, Entry(above, above, where))
        for child in filter(None, children):  # a TAB at the end of a line is harmless
            entry = entries.setdefault(child, Entry(child, child, where))
            if above != root:
                entry.parents.append(above)
    if root in entries:
        where, above = entries[root].where, name_some(entries[root].parents)
        source.fault(where, f"the root {root!r} is below {above}; set root='…' if it is a topic")
    listed = list(entries.values())
    below = [entry for entry in listed if entry.parents]
    if below and all(entry.key.startswith(entry.parents[0] + SLASH) for entry in below):
        for entry in listed:
            entry.code = entry.key
        for entry in below:
            entry.name = entry.key[len(entry.parents[0]) + 1 :]
    return build(source, link(source, listed, parent))


def write(taxonomy: Taxonomy) -> str:
    """Write one line per inner topic; where a name occurs twice, all labels are whole paths."""
    tree, names = taxonomy.tree, taxonomy.names
    inner = [(names[p], name) for name, p in zip(names, tree.parent) if p >= 0]
    looks_whole = bool(inner) and all(name.startswith(p + SLASH) for p, name in inner)
    labels: list[str] = list(names)
    if len(set(names)) < len(names) or looks_whole:
        labels = []
        for name, p in zip(names, tree.parent):
            labels.append(name if p < 0 else labels[p] + SLASH + name)
    unfit = [label for label, count in Counter(labels).items() if count > 1 or label == ROOT]
    if unfit:
        raise TaxonomyError(
            "parent-TAB-children needs labels that are unique and not 'Root': "
            f"{name_some(unfit)}; write another format, such as .csv"
        )
    lines = ["\t".join([ROOT, *(labels[i] for i in tree.children(-1))])]
    for topic, label in enumerate(labels):
        if len(tree.children(topic)):
            lines.append(escape("\t".join([label, *(labels[i] for i in tree.children(topic))])))
    return "".join(f"{line}\n" for line in lines)
