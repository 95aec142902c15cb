"""Statements to Turtle, RDF/XML and JSON-LD, by hand: subjects and values stay in file order.

RDF has no order, but a reader takes the first of several parents as the main one. rdflib's own
writers sort, so that a thesaurus would come back as another tree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from hierseed.errors import TaxonomyError
from hierseed.io.taxonomies.rdf import Triple


def escape(text: str) -> str:
    """Text of an element; a carriage return is kept."""
    from xml.sax.saxutils import escape

    return escape(text, {"\r": "&#13;"})


def quoteattr(text: str) -> str:
    """Value of an attribute, in quotes."""
    from xml.sax.saxutils import quoteattr

    return quoteattr(text)


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
TYPE = RDF + "type"

_LOCAL = re.compile(r"(.*[#/:])([^\W\d][\w.\-]*)", re.DOTALL)
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")

Statements = dict[Any, None]  # predicate and object of one subject, each once, in order


def as_turtle(triples: Sequence[Triple]) -> str:
    """One block per subject."""
    lines = [f"@prefix skos: <{SKOS}> ."]
    for subject, said in _by_subject(triples).items():
        pairs = [f"{_short(predicate)} {_short(value)}" for predicate, value in said]
        lines += ["", f"{subject.n3()} " + " ;\n    ".join(pairs) + " ."]
    return "\n".join(lines) + "\n"


def as_xml(triples: Sequence[Triple]) -> str:
    """One element per subject."""
    prefixes = {RDF: "rdf", SKOS: "skos"}
    body = []
    for subject, said in _by_subject(triples).items():
        body.append(f"  <rdf:Description {_about('about', subject)}>")
        for predicate, value in said:
            found = _LOCAL.fullmatch(str(predicate))
            if found is None:
                raise TaxonomyError(f"RDF/XML can't hold the property <{predicate}>; write .ttl")
            name = f"{prefixes.setdefault(found[1], f'ns{len(prefixes)}')}:{found[2]}"
            body.append(f"    {_element(name, value)}")
        body.append("  </rdf:Description>")
    spaces = [f"xmlns:{prefix}={quoteattr(space)}" for space, prefix in prefixes.items()]
    top = ['<?xml version="1.0" encoding="UTF-8"?>', f"<rdf:RDF {' '.join(spaces)}>"]
    return "\n".join([*top, *body, "</rdf:RDF>"]) + "\n"


def as_jsonld(triples: Sequence[Triple]) -> str:
    """One object per subject, with its context in the file."""
    graph = []
    for subject, said in _by_subject(triples).items():
        node: dict[str, Any] = {"@id": _name(subject)}
        for predicate, value in said:
            if str(predicate) == TYPE and not _is_literal(value):
                node.setdefault("@type", []).append(_name(value))
            else:
                key = TYPE if str(predicate) == TYPE else _short(predicate).strip("<>")
                node.setdefault(key, []).append(_json_value(value))
        graph.append(node)
    document = {"@context": {"skos": SKOS}, "@graph": graph}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _by_subject(triples: Sequence[Triple]) -> dict[Any, Statements]:
    found: dict[Any, Statements] = {}
    for subject, predicate, value in triples:
        found.setdefault(subject, {})[predicate, value] = None
    return found


def _is_literal(node: Any) -> bool:
    return hasattr(node, "datatype")


def _name(node: Any) -> str:
    """Address of a node, or its label if it is blank."""
    text: str = node.n3()
    return text if text.startswith("_:") else str(node)


def _short(node: Any) -> str:
    text: str = node.n3()
    if text == f"<{TYPE}>":
        return "a"
    local = text[len(SKOS) + 1 : -1]
    return f"skos:{local}" if text.startswith(f"<{SKOS}") and local.isalpha() else text


def _about(kind: str, node: Any) -> str:
    name = _name(node)
    blank = name.startswith("_:")
    return f"rdf:{'nodeID' if blank else kind}={quoteattr(name.removeprefix('_:'))}"


def _element(name: str, value: Any) -> str:
    if not _is_literal(value):
        return f"<{name} {_about('resource', value)}/>"
    text = str(value)
    if _NO_XML.search(text):
        raise TaxonomyError(f"RDF/XML can't hold a control character, as in {text!r}; write .ttl")
    kind = f" xml:lang={quoteattr(value.language)}" if value.language else ""
    kind += f" rdf:datatype={quoteattr(str(value.datatype))}" if value.datatype else ""
    return f"<{name}{kind}>{escape(text)}</{name}>"


def _json_value(value: Any) -> dict[str, str]:
    if not _is_literal(value):
        return {"@id": _name(value)}
    found = {"@value": str(value)}
    if value.language:
        found["@language"] = value.language
    elif value.datatype:
        found["@type"] = str(value.datatype)
    return found
