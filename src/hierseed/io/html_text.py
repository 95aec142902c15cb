"""The text of a piece of HTML: what a reader of the page sees."""

from __future__ import annotations

import re
from html.parser import HTMLParser

HIDDEN = {"script", "style", "head", "template", "noscript"}
BLOCKS = {
    "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figure", "footer",
    "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p",
    "pre", "section", "table", "td", "th", "tr", "ul",
}  # fmt: skip
MARKUP = re.compile(r"<[a-zA-Z/!]|&(#\d+|#x[0-9a-fA-F]+|\w+);")


def strip_html(text: str) -> str:
    """Return the text without tags, comments, scripts and styles; a text without any is kept.

    Examples
    --------
    >>> strip_html("<p>Fish &amp; chips</p><script>x = 1</script><p>for <b>two</b></p>")
    'Fish & chips\\nfor two'
    """
    if not MARKUP.search(text):
        return text
    parser = _Text()
    parser.feed(text)
    parser.close()
    lines = (re.sub(r"[ \t\r\f\v\xa0]+", " ", line).strip() for line in parser.text().split("\n"))
    return "\n".join(line for line in lines if line)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in HIDDEN
        if tag in BLOCKS:
            self._parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in HIDDEN))
        if tag in BLOCKS:
            self._parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self._parts.append(data)

    def text(self) -> str:
        return "".join(self._parts)
