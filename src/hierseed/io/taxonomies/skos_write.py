"""Topics to SKOS in Turtle, RDF/XML and JSON-LD, by hand: the order of topics is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from hierseed.errors import TaxonomyError
from hierseed.io.taxonomies.skos_read import SKOS
from hierseed.taxonomy import Taxonomy

BASE = "urn:hierseed:"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

Facts = list[tuple[str, str, bool]]  # property, text, whether it bears a language


def write_turtle(taxonomy: Taxonomy, *, language: str | None = None, base: str = BASE) -> str:
    """Write Turtle, one block per topic."""
    tag = f"@{_language(language)}" if language else ""
    lines = [f"@prefix skos: <{SKOS}> .", "", f"<{_base(base)}scheme> a skos:ConceptScheme ."]
    for address, above, facts in _concepts(taxonomy, base):
        said = ["a skos:Concept"]
        for name, text, spoken in facts:
            said.append(
                f"skos:{name} {json.dumps(text, ensure_ascii=False)}{tag if spoken else ''}"
            )
        said.append(f"skos:broader <{above}>" if above else f"skos:topConceptOf <{base}scheme>")
        lines += ["", f"<{address}> " + " ;\n    ".join(said) + " ."]
    return "\n".join(lines) + "\n"


def write_xml(taxonomy: Taxonomy, *, language: str | None = None, base: str = BASE) -> str:
    """Write RDF/XML."""
    tag = f' xml:lang="{_language(language)}"' if language else ""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:skos="{SKOS}">',
        f"  <skos:ConceptScheme rdf:about={quoteattr(_base(base) + 'scheme')}/>",
    ]
    for address, above, facts in _concepts(taxonomy, base):
        lines.append(f"  <skos:Concept rdf:about={quoteattr(address)}>")
        for name, text, spoken in facts:
            lines.append(f"    <skos:{name}{tag if spoken else ''}>{escape(text)}</skos:{name}>")
        link, to = ("broader", above) if above else ("topConceptOf", f"{base}scheme")
        lines += [f"    <skos:{link} rdf:resource={quoteattr(to)}/>", "  </skos:Concept>"]
    return "\n".join([*lines, "</rdf:RDF>"]) + "\n"


def write_jsonld(taxonomy: Taxonomy, *, language: str | None = None, base: str = BASE) -> str:
    """Write JSON-LD with its context in the file."""
    context: dict[str, Any] = {"skos": SKOS}
    for name in ("broader", "topConceptOf"):
        context[f"skos:{name}"] = {"@type": "@id"}
    if language:
        for name in ("prefLabel", "definition"):
            context[f"skos:{name}"] = {"@language": _language(language)}
    graph: list[dict[str, str]] = [{"@id": f"{_base(base)}scheme", "@type": "skos:ConceptScheme"}]
    for address, above, facts in _concepts(taxonomy, base):
        node = {"@id": address, "@type": "skos:Concept"}
        node |= {f"skos:{name}": text for name, text, _ in facts}
        node |= {"skos:broader": above} if above else {"skos:topConceptOf": f"{base}scheme"}
        graph.append(node)
    return json.dumps({"@context": context, "@graph": graph}, ensure_ascii=False, indent=1) + "\n"


def _concepts(taxonomy: Taxonomy, base: str) -> Iterator[tuple[str, str, Facts]]:
    """Give each topic's address, its parent's, and what is said of it."""
    for topic, (name, parent) in enumerate(zip(taxonomy.names, taxonomy.tree.parent)):
        facts: Facts = [("prefLabel", name, True)]
        if taxonomy.codes[topic]:
            facts.append(("notation", taxonomy.codes[topic], False))
        if taxonomy.descriptions[topic]:
            facts.append(("definition", taxonomy.descriptions[topic], True))
        yield f"{base}{topic + 1}", f"{base}{parent + 1}" if parent >= 0 else "", facts


def _base(base: str) -> str:
    if ":" not in base or any(letter in base for letter in '<>"{}|^`\\') or base != base.strip():
        raise TaxonomyError(f"base is {base!r}; give the start of an address: 'https://…/'")
    return base


def _language(language: str) -> str:
    if not language.replace("-", "").isalnum() or not language.isascii():
        raise TaxonomyError(f"language is {language!r}; give a tag such as 'en' or 'pt-BR'")
    return language
