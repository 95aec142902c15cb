"""A SKOS vocabulary as it was read, with the changes that were made to its topics since.

Languages, alternative labels, notes, mappings, schemes: all statements of the file are kept and
written again. Only what differs between the topics then and now is changed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

from hierseed.io.taxonomies.build import Source
from hierseed.io.taxonomies.rdf import SKOS, TYPE, Triple, label_text, read_triples
from hierseed.taxonomy import Taxonomy

BASE = "urn:hierseed:"  # addresses of topics that have none of their own
LANGUAGE = "# language: "

_BLANK = re.compile(r"\w[\w.\-]*")


def keep_vocabulary(triples: Sequence[Triple], language: str | None) -> str:
    """Write statements in file order, as Turtle; the language of the names is noted first."""
    from rdflib import BNode

    lines = [f"{LANGUAGE}{language}"] if language else []
    blank = {term for triple in triples for term in triple if isinstance(term, BNode)}
    if not all(map(_BLANK.fullmatch, blank)):  # a label that Turtle can't hold
        return ""
    try:
        lines += [" ".join(term.n3() for term in triple) + " ." for triple in triples]
    except Exception:  # an address that Turtle can't hold, which rdflib says with a bare Exception
        return ""
    return "\n".join(lines)


def statements(taxonomy: Taxonomy, base: str) -> list[Triple]:
    """The statements of the vocabulary, as the topics are now."""
    from rdflib import Literal, URIRef

    from hierseed.io.taxonomies.skos import read

    text = taxonomy.vocabulary
    language = text.split("\n")[0].removeprefix(LANGUAGE) if text.startswith(LANGUAGE) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user was warned when the file was read
        before = read(Source("vocabulary", text.encode()), syntax="turtle", language=language)
    triples = read_triples(Source("vocabulary", text.encode()), "turtle")
    old = {address: topic for topic, address in enumerate(before.addresses)}
    addresses = _addresses(taxonomy, set(old), base)
    gone = set(old) - set(addresses)
    drop: set[tuple[str, str, str]] = set()  # address, property, text or address
    add: list[Triple] = []

    def term(property: str) -> Any:
        return URIRef(SKOS + property)

    for topic, address in enumerate(addresses):
        node, was = URIRef(address), old.get(address)
        above = {addresses[p] for p in _parents(taxonomy, topic)}
        if was is None:
            add.append((node, URIRef(TYPE), term("Concept")))
        known = set() if was is None else {before.addresses[p] for p in _parents(before, was)}
        add += [(node, term("broader"), URIRef(one)) for one in sorted(above - known)]
        for one in known - above:
            drop |= {(address, SKOS + "broader", one), (one, SKOS + "narrower", address)}
        for property, now, then in (
            ("prefLabel", taxonomy.names, before.names),
            ("notation", taxonomy.codes, before.codes),
            ("definition", taxonomy.descriptions, before.descriptions),
        ):
            text_then = "" if was is None else then[was]
            if now[topic] == text_then:
                continue
            tag = _language_of(triples, address, property, text_then)
            drop.add((address, SKOS + property, text_then))
            if now[topic]:
                add.append((node, term(property), Literal(now[topic], lang=tag)))
    kept = [
        (s, p, o)
        for s, p, o in triples
        if str(s) not in gone and str(o) not in gone and (str(s), str(p), label_text(o)) not in drop
    ]
    return [*kept, *add]


def _parents(taxonomy: Taxonomy, topic: int) -> list[int]:
    first = int(taxonomy.tree.parent[topic])
    return [*([first] if first >= 0 else []), *taxonomy.more_parents[topic]]


def _addresses(taxonomy: Taxonomy, known: set[str], base: str) -> list[str]:
    """The address of each topic; topics that are new get one of their own."""
    taken, found = known | set(taxonomy.addresses), []
    number = 0
    for address in taxonomy.addresses:
        while not address:
            number += 1
            fresh = f"{base}{number}"
            address = "" if fresh in taken else fresh
        taken.add(address)
        found.append(address)
    return found


def _language_of(triples: Sequence[Triple], address: str, property: str, text: str) -> str | None:
    """Language of the statement that is replaced, else of the topic's label."""
    for about in (property, "prefLabel"):
        for s, p, o in triples:
            same = about == "prefLabel" or label_text(o) == text
            if str(s) == address and str(p) == SKOS + about and same:
                tag: str | None = getattr(o, "language", None)
                return tag if property != "notation" else None
    return None
