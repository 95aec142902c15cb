"""Check a built site: every link leads somewhere, and nothing is loaded from another host."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
NOT_LOADED = {"canonical", "next", "prev", "search", "index", "author", "genindex"}


class Page(HTMLParser):
    """Anchors, links and loaded files of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note what a tag names, links to, or loads."""
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADS and LOADS[tag] in given:
            if tag == "link" and given.get("rel") in NOT_LOADED:
                return
            self.loads.append(given[LOADS[tag]])


def check(html: Path) -> list[str]:
    """Return every fault of the site."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(html.rglob("*.html"))}
    faults: list[str] = []
    for file, page in pages.items():
        name = file.relative_to(html)
        for load in page.loads:
            parts = urlsplit(load)
            if parts.netloc:
                faults.append(f"{name} loads {load} from another host")
            elif parts.scheme != "data" and not _meant(file, parts.path).exists():
                faults.append(f"{name} loads {load}, which is not there")
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue  # another site, which can't be asked without a network
            meant = _meant(file, parts.path)
            if not meant.exists():
                faults.append(f"{name} links to {link}, which is not there")
            elif meant in pages and unquote(parts.fragment) not in pages[meant].anchors | {""}:
                faults.append(f"{name} links to {link}, which has no such part")
    for style in html.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        if "url(http" in text or "url(//" in text or '@import "http' in text:
            faults.append(f"{style.relative_to(html)} loads from another host")
    return faults


def _meant(file: Path, path: str) -> Path:
    return (file.parent / unquote(path)).resolve() if path else file
