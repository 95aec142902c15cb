"""Text and attributes of XML; the standard library's module brings HTTP along and loads slowly."""

from __future__ import annotations


def escape(text: str) -> str:
    """Text of an element; a carriage return is kept."""
    from xml.sax.saxutils import escape

    return escape(text, {"\r": "&#13;"})


def quoteattr(text: str) -> str:
    """Value of an attribute, in quotes."""
    from xml.sax.saxutils import quoteattr

    return quoteattr(text)
