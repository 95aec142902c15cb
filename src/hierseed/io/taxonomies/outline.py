"""Indented outlines and Markdown lists: depth is the white space before a line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hierseed.io.taxonomies.build import Row, Source, build
from hierseed.io.taxonomies.paths import BULLET as PLAIN_BULLET
from hierseed.io.taxonomies.paths import has_bullets, is_content
from hierseed.taxonomy import Taxonomy

BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_COMMENT = re.compile(r"[ \t]*<!--.*-->[ \t]*$")


def read(source: Source) -> Taxonomy:
    """Read an outline: one topic a line, children indented further; `#` begins a comment.

    Bullets below plain lines are left out; if nothing is indented, they are level 2.
    """
    rows: list[Row] = []
    stack: list[tuple[str, int]] = []
    lines = [line for line in source.lines if is_content(line)]
    bullets = bool(lines) and has_bullets(lines)
    flat = bullets and not any(line[0].isspace() for line in lines)
    for number, line in enumerate(source.lines, 1):
        if is_content(line):
            indent, text = _indent(line)
            if bullets and (bullet := PLAIN_BULLET.match(text)):
                indent, text = " " if flat else indent, text[bullet.end() :]
            parent = _parent(source, stack, indent, len(rows), f"line {number}")
            rows.append(Row(_unescape(text), parent, f"line {number}"))
    return build(source, rows)


def read_markdown(source: Source) -> Taxonomy:
    """Read nested lists. Headings are topics above them, but for a lone title on top."""
    rows: list[Row] = []
    above: list[tuple[int, int]] = []  # depth and position of the headings in force
    stack: list[tuple[str, int]] = []
    title = _title(source.lines)
    for number, line in enumerate(source.lines, 1):
        where = f"line {number}"
        if not line.strip() or number == title or _COMMENT.match(line):
            continue
        if heading := _HEADING.match(line):
            depth = len(heading.group(1))
            while above and above[-1][0] >= depth:
                above.pop()
            rows.append(Row(heading.group(2), above[-1][1] if above else -1, where))
            above.append((depth, len(rows) - 1))
            stack = []
            continue
        indent, text = _indent(line)
        bullet = BULLET.match(text)
        if not bullet:
            source.fault(where, f"neither a list item ('- name') nor a heading: {text[:60]!r}")
            continue
        parent = _parent(source, stack, indent, len(rows), where)
        if parent < 0 and above:
            parent = above[-1][1]
        rows.append(Row(text[bullet.end() :], parent, where))
    return build(source, rows)


def write(taxonomy: Taxonomy) -> str:
    """Write an outline with two blanks a level."""
    return "".join(f"{indent}{_escape(name)}\n" for indent, name in _walk(taxonomy))


def write_markdown(taxonomy: Taxonomy) -> str:
    """Write nested bullet lists."""
    return "".join(f"{indent}- {name}\n" for indent, name in _walk(taxonomy))


def _escape(name: str) -> str:
    """Put a backslash before a name that would read as a comment or a bullet."""
    return f"\\{name}" if name[:1] in ("#", "\\") or PLAIN_BULLET.match(name) else name


def _unescape(text: str) -> str:
    rest = text.removeprefix("\\")
    return rest if rest[:1] in ("#", "\\") or PLAIN_BULLET.match(rest) else text


def _walk(taxonomy: Taxonomy) -> Iterable[tuple[str, str]]:
    """Give indentation and name of each topic, every branch in one piece."""
    stack = [int(topic) for topic in taxonomy.tree.children(-1)[::-1]]
    while stack:
        topic = stack.pop()
        yield "  " * (int(taxonomy.tree.level[topic]) - 1), taxonomy.names[topic]
        stack.extend(int(child) for child in taxonomy.tree.children(topic)[::-1])


def _indent(line: str) -> tuple[str, str]:
    text = line.lstrip()  # any white space: pages copied from the web indent with U+00A0
    return line[: len(line) - len(text)], text.strip()


def _parent(
    source: Source, stack: list[tuple[str, int]], indent: str, position: int, where: str
) -> int:
    """Find the parent of a line, as Python does: by comparing white space, not columns."""
    deeper, above = len(stack), stack[-1][0] if stack else ""
    while stack and len(stack[-1][0]) > len(indent):
        stack.pop()
    if stack and stack[-1][0] == indent:
        stack.pop()
    elif (stack and not indent.startswith(stack[-1][0])) or _mixes(indent, above):
        source.fault(where, "tabs and blanks are mixed in the indentation; use one of them")
    elif len(stack) < deeper:
        source.fault(where, "indented less than the line above, but like no line before that")
    parent = stack[-1][1] if stack else -1
    stack.append((indent, position))
    return parent


def _mixes(indent: str, above: str) -> bool:
    """True where one line begins with a tab and the other with a blank."""
    return bool(indent and above) and indent[0] != above[0]


def _title(lines: list[str]) -> int:
    """Line number of a lone level-1 heading before everything else, 0 where there is none."""
    level_1 = [number for number, line in enumerate(lines, 1) if re.match(r"#[ \t]", line)]
    content = [number for number, line in enumerate(lines, 1) if line.strip()]
    lone = len(level_1) == 1 and level_1 == content[:1] and len(content) > 1
    return level_1[0] if lone else 0
