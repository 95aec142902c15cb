"""RDF to triples with rdflib, and triples to Turtle, RDF/XML and JSON-LD by hand, in file order.

RDF has no order, but a reader takes the first of several parents as the main one. rdflib's own
writers sort, so that a thesaurus would come back as another tree.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from hierseed.errors import MissingDependency, TaxonomyError
from hierseed.io.taxonomies.build import Source

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
TYPE = RDF + "type"
LONGEST_ENTITY = 200  # characters; enough for a namespace, too short for an entity bomb

_DECLARED = re.compile(r"<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']+)[\"']")
_ENTITY = re.compile(r"<!ENTITY\s+(%\s+)?(\S+)\s+(\"[^\"]*\"|'[^']*'|\S+)", re.DOTALL)
_LOCAL = re.compile(r"(.*[#/:])([^\W\d][\w.\-]*)", re.DOTALL)
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")

Triple = tuple[Any, Any, Any]
Statements = dict[Any, None]  # predicate and object of one subject, each once, in order


def read_triples(source: Source, syntax: str) -> list[Triple]:
    """Parse `turtle`, `xml` or `json-ld`; nothing is fetched from anywhere."""
    text = source.text
    if syntax == "xml":
        _refuse_entities(source, text)
    elif syntax == "json-ld":
        _refuse_remote_contexts(source, text)
    rdflib = _rdflib()
    triples: list[Triple] = []
    graph = rdflib.Graph(store=_recorder(triples))
    talk = logging.getLogger("rdflib")
    level = talk.level
    talk.setLevel(logging.CRITICAL)  # it reports odd addresses on stderr; they are no fault here
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rdflib's parsers use its own deprecated parts
            graph.parse(data=text, format=syntax, publicID="urn:taxonomy:")
    except Exception as fault:  # parsers let through assertions and index errors on bad input
        source.stop(_place(fault), f"not {syntax}: {_reason(fault)}")
    finally:
        talk.setLevel(level)
    return triples


def label_text(value: Any) -> str:
    """Text of a label; Arches writes `{"id": …, "value": "the text"}`."""
    text = str(value).strip()
    if text.startswith("{") and '"value"' in text:
        with suppress(ValueError, RecursionError):
            inner = json.loads(text).get("value")
            return inner.strip() if isinstance(inner, str) else text
    return text


def _recorder(triples: list[Triple]) -> Any:
    """Make a store that keeps triples in file order; rdflib's own stores forget it."""
    from rdflib.store import Store

    class Recorder(Store):
        context_aware = True  # rdflib reads JSON-LD through a graph of graphs

        def add(self, triple: Triple, context: Any, quoted: bool = False) -> None:
            triples.append(triple)

        def add_graph(self, graph: Any) -> None: ...

        def contexts(self, triple: Any = None) -> Any:
            return iter(())

        def triples(self, *_: Any, **__: Any) -> Any:
            return iter(())

        def __len__(self, context: Any = None) -> int:
            return len(triples)

        def bind(self, *_: Any, **__: Any) -> None: ...

        def namespace(self, prefix: str) -> None: ...

        def prefix(self, namespace: Any) -> None: ...

        def namespaces(self) -> Any:
            return iter(())

    return Recorder()


def _rdflib() -> Any:
    try:
        import rdflib
    except ImportError as fault:
        raise MissingDependency("rdflib", "skos", "a SKOS file") from fault
    return rdflib


def _refuse_entities(source: Source, text: str) -> None:
    """Refuse entities that grow or reach outside; short ones for namespaces are common."""
    declared = _DECLARED.match(text.lstrip())
    if declared and declared.group(1).casefold() not in ("utf-8", "utf8", "us-ascii", "ascii"):
        source.stop("line 1", f"declared as {declared.group(1)}; save the file as UTF-8")
    for entity in _ENTITY.finditer(text):
        parameter, name, value = entity.groups()
        line = text.count("\n", 0, entity.start()) + 1
        if parameter or value[0] not in "\"'":
            source.fault(f"line {line}", f"the entity {name!r} reaches outside the file; remove it")
        elif "&" in value or "%" in value or len(value) > LONGEST_ENTITY:
            source.fault(
                f"line {line}", f"the entity {name!r} grows when it is used; write the text out"
            )
    doctype = re.search(r"<!DOCTYPE[^\[>]*\b(SYSTEM|PUBLIC)\b", text)
    if doctype:
        line = text.count("\n", 0, doctype.start()) + 1
        source.fault(f"line {line}", "the DOCTYPE names an outside file; remove it")
    source.refuse()


def _refuse_remote_contexts(source: Source, text: str) -> None:
    """Refuse a `@context` given by address: rdflib would fetch it."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as fault:
        source.stop(f"line {fault.lineno}", f"not JSON: {fault.msg}")
    except (ValueError, RecursionError) as fault:
        source.stop("", f"not JSON-LD: {fault}")
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            contexts = node.get("@context", [])
            for context in contexts if isinstance(contexts, list) else [contexts]:
                if isinstance(context, str) or (isinstance(context, dict) and "@import" in context):
                    named = context if isinstance(context, str) else context["@import"]
                    source.fault(
                        "", f"the @context {named!r} lies elsewhere; write it into the file"
                    )
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    source.refuse()


def _place(fault: Exception) -> str:
    """Name the line that a parser names."""
    line = getattr(fault, "lines", None)  # turtle: line breaks before the fault
    if isinstance(line, int):
        return f"line {line + 1}"
    number = getattr(fault, "getLineNumber", lambda: None)()
    return f"line {number}" if number else ""


def _reason(fault: Exception) -> str:
    why = getattr(fault, "_why", None) or getattr(fault, "getMessage", lambda: str(fault))()
    return str(why).split("\n")[0][:200] or type(fault).__name__


def escape(text: str) -> str:
    """Text of an element; a carriage return is kept."""
    from xml.sax.saxutils import escape

    return escape(text, {"\r": "&#13;"})


def quoteattr(text: str) -> str:
    """Value of an attribute, in quotes."""
    from xml.sax.saxutils import quoteattr

    return quoteattr(text)


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
