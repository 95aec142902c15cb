"""SKOS vocabularies: labels by language, notations as codes, broader and narrower.

Topics are written by hand, in Turtle, RDF/XML and JSON-LD, so that their order is kept.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hierseed.errors import TaxonomyError, name_some
from hierseed.io.taxonomies.build import Entry, Row, Source, build, link, tidy
from hierseed.io.taxonomies.rdf import (
    RDF,
    SKOS,
    TYPE,
    Triple,
    as_jsonld,
    as_turtle,
    as_xml,
    escape,
    label_text,
    quoteattr,
    read_triples,
)
from hierseed.io.taxonomies.vocabulary import BASE, keep_vocabulary, statements
from hierseed.taxonomy import Taxonomy
from hierseed.topics import SEPARATOR

SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ANY = "*"
CODES = ("notation", "uri")

# Of each topic in order: the name of a property of SKOS, such as scopeNote, and its text.
Notes = Sequence[Sequence[tuple[str, str]]]
Facts = list[tuple[str, str, bool]]  # property, text, whether it bears a language
Labels = dict[str, list[str]]  # language, "" for none -> texts in file order


@dataclass(slots=True)
class Concept:
    """The properties of one concept."""

    address: str
    is_concept: bool = False
    preferred: Labels = field(default_factory=dict)
    fallback: Labels = field(default_factory=dict)
    alternative: Labels = field(default_factory=dict)
    definition: Labels = field(default_factory=dict)
    note: Labels = field(default_factory=dict)
    notations: list[str] = field(default_factory=list)
    broader: list[str] = field(default_factory=list)


FIELDS = {
    SKOS + "prefLabel": "preferred",
    RDFS_LABEL: "fallback",
    SKOS + "altLabel": "alternative",
    SKOS + "definition": "definition",
    SKOS + "scopeNote": "note",
}


def read(
    source: Source,
    *,
    syntax: str,
    language: str | None = None,
    parent: str = "all",
    code: str = "notation",
) -> Taxonomy:
    """Read a vocabulary.

    `language` is one or several in order of preference (`"de,en"`, `"fr,*"`: French, else any);
    without it the language that labels most concepts. `code="uri"` takes addresses as codes.
    """
    if code not in CODES:
        raise TaxonomyError(f"code is {code!r}; say 'notation' or 'uri'")
    triples = read_triples(source, syntax)
    concepts = [c for c in gather(triples).values() if c.is_concept]
    if not concepts:
        source.stop("", "no skos:Concept in it")
    wanted = _languages(concepts, language)
    entries, strayed = [], []
    for concept in concepts:
        name, chosen = _pick(concept.preferred or concept.fallback, wanted)
        where = f"<{concept.address}>"
        if not name:
            source.fault(where, _why_nameless(concept, language))
        elif language is None and _primary(chosen) != wanted[0]:
            strayed.append(name)
        notation = concept.notations[0] if concept.notations else ""
        entries.append(
            Entry(
                concept.address,
                name or concept.address,
                where,
                parents=concept.broader,
                code=concept.address if code == "uri" else notation,
                description=_describe(concept, wanted),
                address=concept.address,
            )
        )
    if strayed:
        warnings.warn(
            f"{source.name}: no label in {wanted[0]!r}, so another language is kept, for "
            f"{name_some(strayed)}",
            stacklevel=3,
        )
    made_up = all(entry.address.startswith(BASE) for entry in entries)
    rows = link(source, entries, parent)
    if made_up:  # we made up these addresses
        for row in rows:
            row.address = ""
        return build(source, rows)
    _distinguish(source, rows)
    vocabulary = keep_vocabulary(triples, language) if parent == "all" else ""
    return build(source, rows, vocabulary)


def _distinguish(source: Source, rows: Sequence[Row]) -> None:
    """Give concepts names that paths can hold: siblings of one name are numbered.

    In SKOS such concepts differ by their addresses. Labels are written back as they were.
    """
    taken: set[tuple[int, str]] = set()
    changed = []
    for row in rows:
        name, number = tidy(row.name).replace(SEPARATOR, " >"), 1
        while (row.parent, name) in taken:
            number += 1
            name = f"{tidy(row.name).replace(SEPARATOR, ' >')} ({number})"
        taken.add((row.parent, name))
        if name != tidy(row.name):
            changed.append(name)
        row.name = name
    if changed:
        warnings.warn(
            f"{source.name}: names that occur twice below a concept, or contain ' > ', are read as "
            f"{name_some(changed)}",
            stacklevel=4,
        )


def _why_nameless(concept: Concept, language: str | None) -> str:
    tags = sorted(concept.preferred or concept.fallback)
    if tags:
        return f"no label in {language!r} (it has: {', '.join(tags)})"
    return "no label at all; describe it in this file, or remove the links to it"


def gather(triples: Sequence[Triple]) -> dict[str, Concept]:
    """Collect what is said about each concept, in the order in which they are spoken about.

    Parents come in the order of a concept's own `broader`, then in the order of the concepts that
    have it as `narrower`: the same, however statements about other subjects lie between.
    """
    concepts: dict[str, Concept] = {}
    forms: dict[str, tuple[str, str]] = {}  # address of a SKOS-XL label -> language, text
    extended: list[tuple[str, str, str]] = []
    narrower: list[tuple[str, str]] = []

    def concept(node: Any) -> Concept:
        return concepts.setdefault(str(node), Concept(str(node)))

    for subject, predicate, value in triples:
        about = str(predicate)
        if about == TYPE:
            if str(value) == SKOS + "Concept":
                concept(subject).is_concept = True
        elif about in FIELDS:
            if not hasattr(value, "language"):  # a note with properties of its own, no text
                continue
            labels: Labels = getattr(concept(subject), FIELDS[about])
            labels.setdefault(_language(value), []).append(label_text(value))
        elif about == SKOS + "notation":
            concept(subject).notations.append(tidy(str(value)))
        elif about in (SKOS + "broader", SKOS + "narrower"):
            concept(subject).is_concept = concept(value).is_concept = True
            if about.endswith("broader"):
                concept(subject).broader.append(str(value))
            else:
                narrower.append((str(subject), str(value)))
        elif about in (SKOS + "topConceptOf", SKOS + "hasTopConcept"):
            concept(subject if about.endswith("Of") else value).is_concept = True
        elif about == SKOSXL + "literalForm":
            forms[str(subject)] = (_language(value), str(value).strip())
        elif about in (SKOSXL + "prefLabel", SKOSXL + "altLabel"):
            kind = "fallback" if about.endswith("prefLabel") else "alternative"
            extended.append((str(subject), kind, str(value)))
    for address, kind, label in extended:
        if label in forms:
            language, text = forms[label]
            getattr(concept(address), kind).setdefault(language, []).append(text)
    order = {str(subject): 0 for subject, _, _ in triples}
    order = {address: number for number, address in enumerate(order)}
    for upper, lower in sorted(narrower, key=lambda pair: order[pair[0]]):
        concepts[lower].broader.append(upper)
    return {address: concepts[address] for address in order | concepts if address in concepts}


def _language(value: Any) -> str:
    return (getattr(value, "language", None) or "").casefold()


def _primary(tag: str) -> str:
    """`en` of `en-gb`."""
    return tag.split("-")[0]


def _languages(concepts: Sequence[Concept], language: str | None) -> list[str]:
    """Give languages in order of preference."""
    if language is not None:
        return [part.strip().casefold() for part in language.split(",") if part.strip()]
    counts: Counter[str] = Counter()
    for concept in concepts:
        counts.update({_primary(tag) for tag in concept.preferred or concept.fallback})
    best = sorted(counts, key=lambda tag: (-counts[tag], tag != "en", tag != "", tag))
    return [*best[:1], ANY] if best else [ANY]


def _pick(labels: Labels, wanted: Sequence[str]) -> tuple[str, str]:
    """Give the first text in the first language wanted; `en` takes `en-gb`, and no tag, too."""
    for tag in wanted:
        for match in (
            lambda t, tag=tag: t == tag,
            lambda t, tag=tag: _primary(t) == _primary(tag),
            lambda t, tag=tag: t == "" or tag == ANY,
        ):
            for found in labels:
                if match(found):
                    return labels[found][0], tag if found == "" else found
    return "", ""


def _describe(concept: Concept, wanted: Sequence[str]) -> str:
    """Join the definition (or scope note) with the alternative labels."""
    text, _ = _pick(concept.definition, wanted)
    if not text:
        text, _ = _pick(concept.note, wanted)
    _, tag = _pick(concept.alternative, wanted)
    others = concept.alternative.get(tag) or concept.alternative.get("", [])
    if not others:
        return text
    also = "Also: " + "; ".join(dict.fromkeys(map(tidy, others)))
    return f"{text}\n{also}" if text else also


def write_turtle(
    taxonomy: Taxonomy, *, language: str | None = None, base: str = BASE, notes: Notes = ()
) -> str:
    """Write Turtle, one block per topic."""
    if taxonomy.vocabulary:
        return as_turtle(statements(taxonomy, _base(base)))
    tag = f"@{_checked_tag(language)}" if language else ""
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
    tag = f' xml:lang="{_checked_tag(language)}"' if language else ""
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
            context[f"skos:{name}"] = {"@language": _checked_tag(language)}
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


def _checked_tag(language: str) -> str:
    if not language.replace("-", "").isalnum() or not language.isascii():
        raise TaxonomyError(f"language is {language!r}; give a tag such as 'en' or 'pt-BR'")
    return language
