"""Topics to SKOS in Turtle, RDF/XML and JSON-LD, by hand: the order of topics is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from hierseed.errors import TaxonomyError
from hierseed.io.taxonomies.rdf_write import (
    RDF,
    SKOS,
    as_jsonld,
    as_turtle,
    as_xml,
    escape,
    quoteattr,
)
from hierseed.io.taxonomies.vocabulary import BASE, statements
from hierseed.taxonomy import Taxonomy

# Of each topic in order: the name of a property of SKOS, such as scopeNote, and its text.
Notes = Sequence[Sequence[tuple[str, str]]]
Facts = list[tuple[str, str, bool]]  # property, text, whether it bears a language


def write_turtle(
    taxonomy: Taxonomy, *, language: str | None = None, base: str = BASE, notes: Notes = ()
) -> str:
    """Write Turtle, one block per topic."""
    if taxonomy.vocabulary:
        return as_turtle(statements(taxonomy, _base(base)))
    tag = f"@{_language(language)}" if language else ""
    lines = [f"@prefix skos: <{SKOS}> .", "", f"<{_base(base)}scheme> a skos:ConceptScheme ."]
    for address, above, facts in _concepts(taxonomy, base, notes):
        said = ["a skos:Concept"]
        for name, text, spoken in facts:
            said.append(
                f"skos:{name} {json.dumps(text, ensure_ascii=False)}{tag if spoken else ''}"
            )
        links = [f"skos:broader <{one}>" for one in above]
        said += links or [f"skos:topConceptOf <{base}scheme>"]
        lines += ["", f"<{address}> " + " ;\n    ".join(said) + " ."]
    return "\n".join(lines) + "\n"


def write_xml(
    taxonomy: Taxonomy, *, language: str | None = None, base: str = BASE, notes: Notes = ()
) -> str:
    """Write RDF/XML."""
    if taxonomy.vocabulary:
        return as_xml(statements(taxonomy, _base(base)))
    tag = f' xml:lang="{_language(language)}"' if language else ""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:skos="{SKOS}">',
        f"  <skos:ConceptScheme rdf:about={quoteattr(_base(base) + 'scheme')}/>",
    ]
    for address, above, facts in _concepts(taxonomy, base, notes):
        lines.append(f"  <skos:Concept rdf:about={quoteattr(address)}>")
        for name, text, spoken in facts:
            lines.append(f"    <skos:{name}{tag if spoken else ''}>{escape(text)}</skos:{name}>")
        links = [("broader", one) for one in above] or [("topConceptOf", f"{base}scheme")]
        lines += [f"    <skos:{link} rdf:resource={quoteattr(to)}/>" for link, to in links]
        lines.append("  </skos:Concept>")
    return "\n".join([*lines, "</rdf:RDF>"]) + "\n"


def write_jsonld(
    taxonomy: Taxonomy, *, language: str | None = None, base: str = BASE, notes: Notes = ()
) -> str:
    """Write JSON-LD with its context in the file."""
    if taxonomy.vocabulary:
        return as_jsonld(statements(taxonomy, _base(base)))
    context: dict[str, Any] = {"skos": SKOS}
    for name in ("broader", "topConceptOf"):
        context[f"skos:{name}"] = {"@type": "@id"}
    if language:
        for name in ("prefLabel", "definition", "scopeNote", "note", "example"):
            context[f"skos:{name}"] = {"@language": _language(language)}
    graph: list[dict[str, Any]] = [{"@id": f"{_base(base)}scheme", "@type": "skos:ConceptScheme"}]
    for address, above, facts in _concepts(taxonomy, base, notes):
        node: dict[str, Any] = {"@id": [address], "@type": ["skos:Concept"]}
        for name, text, _ in facts:
            node.setdefault(f"skos:{name}", []).append(text)
        node = {key: value[0] if len(value) == 1 else value for key, value in node.items()}
        node |= {"skos:broader": above} if above else {"skos:topConceptOf": f"{base}scheme"}
        graph.append(node)
    return json.dumps({"@context": context, "@graph": graph}, ensure_ascii=False, indent=1) + "\n"


def _concepts(
    taxonomy: Taxonomy, base: str, notes: Notes
) -> Iterator[tuple[str, list[str], Facts]]:
    """Give each topic's address, those of its parents, and what is said of it."""

    def address(topic: int) -> str:
        return taxonomy.addresses[topic] or f"{base}{topic + 1}"

    for topic, (name, parent) in enumerate(zip(taxonomy.names, taxonomy.tree.parent)):
        facts: Facts = [("prefLabel", name, True)]
        if taxonomy.codes[topic]:
            facts.append(("notation", taxonomy.codes[topic], False))
        if taxonomy.descriptions[topic]:
            facts.append(("definition", taxonomy.descriptions[topic], True))
        if topic < len(notes):
            facts += [(name, text, True) for name, text in notes[topic]]
        above = [int(parent)] if parent >= 0 else []
        yield address(topic), [address(p) for p in [*above, *taxonomy.more_parents[topic]]], facts


def _base(base: str) -> str:
    if ":" not in base or any(letter in base for letter in '<>"{}|^`\\') or base != base.strip():
        raise TaxonomyError(f"base is {base!r}; give the start of an address: 'https://…/'")
    return base


def _language(language: str) -> str:
    if not language.replace("-", "").isalnum() or not language.isascii():
        raise TaxonomyError(f"language is {language!r}; give a tag such as 'en' or 'pt-BR'")
    return language
