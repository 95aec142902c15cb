"""Excel workbooks: one sheet is one table.

Merged cells down a column stand for the same value in each row; merged across columns
they are refused below the title. A formula counts by the result that Excel stored with it.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any, Unpack

from hierseed.io.records.excel import open_workbook, readable
from hierseed.io.taxonomies.build import LIMIT, Source
from hierseed.io.taxonomies.table import TableOptions, read_table_layout, table_rows
from hierseed.io.taxonomies.table_columns import Table, without_titles
from hierseed.taxonomy import Taxonomy


def read(source: Source, *, sheet: str | None = None, **options: Unpack[TableOptions]) -> Taxonomy:
    """Read the first sheet, or the one named."""
    return read_table_layout(source, read_cells(source, sheet), **options)


def read_cells(source: Source, sheet: str | None = None) -> Table:
    """Give the cells of a sheet as texts; what can't be one is a fault with its cell."""
    page = _sheet(source, sheet, data_only=False)
    across = _spread_merged(page)
    formulas = [cell for row in _filled_rows(page) for cell in row if cell.data_type == "f"]
    if formulas:
        stored = _sheet(source, sheet, data_only=True)
        for cell in formulas:
            value = stored[cell.coordinate].value
            if value is None:
                source.fault(
                    f"cell {cell.coordinate}",
                    "a formula without a stored result; open and save the file in Excel, or "
                    "paste the cells as values",
                )
            cell.value = value if value is not None else ""
    rows = []
    for row in _filled_rows(page):
        cells = [_text(source, cell) for cell in row]
        if any(cells):
            rows.append((f"row {row[0].row}", cells))
    if not rows:
        source.stop("", f"the sheet {page.title!r} is empty")
    (where, header), body = without_titles(source, rows)
    for block in across:
        if block.max_row >= int(where.removeprefix("row ")):  # above it is the title
            source.fault(
                f"cells {block.coord}", "merged across columns; unmerge them and name each cell"
            )
    while header and not header[-1]:
        header.pop()
    for place, cells in body:
        if any(cells[len(header) :]):
            source.fault(place, f"cells to the right of the header's {len(header)} columns")
    return Table(header, [(place, cells[: len(header)]) for place, cells in body], where)


def _filled_rows(page: Any) -> Iterator[tuple[Any, ...]]:
    """Rows with at least one value; a single cell far down does not create empty rows."""
    numbers = {row for (row, _), cell in page._cells.items() if cell.value is not None}
    for number in sorted(numbers):
        yield next(page.iter_rows(number, number, 1))


def _sheet(source: Source, sheet: str | None, *, data_only: bool) -> Any:
    refuse = partial(source.stop, "")
    if zipfile.is_zipfile(io.BytesIO(source.data)):
        with readable(refuse), zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > LIMIT:
            refuse(f"unpacks to {size / 2**20:,.0f} MB, more than {LIMIT >> 20} MB")
    book = open_workbook(io.BytesIO(source.data), refuse, data_only=data_only)
    if sheet is None:
        if len(book.sheetnames) > 1:
            source.hint = f"\nOnly one sheet is read, of {book.sheetnames}; name another with "
        return book.worksheets[0]
    numbers = map(str, range(1, len(book.sheetnames) + 1))
    if sheet not in book.sheetnames:
        sheet = dict(zip(numbers, book.sheetnames)).get(sheet, sheet)
    if sheet not in book.sheetnames:
        refuse(f"no sheet {sheet!r}; the workbook has {book.sheetnames}")
    if not hasattr(book[sheet], "iter_rows"):
        refuse(f"the sheet {sheet!r} is a chart and has no cells")
    return book[sheet]


def _spread_merged(page: Any) -> list[Any]:
    """Give each row of a merged block the block's value; returns blocks across columns."""
    across = []
    for block in list(page.merged_cells.ranges):
        if block.min_col != block.max_col:
            across.append(block)
            continue
        value = page.cell(block.min_row, block.min_col).value
        page.unmerge_cells(block.coord)
        for row in range(block.min_row, block.max_row + 1):
            page.cell(row, block.min_col).value = value
    return across


def _text(source: Source, cell: Any) -> str:
    """Give a cell as its reader sees it, as far as that can be known."""
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "e":
        source.fault(f"cell {cell.coordinate}", f"the error {value}")
        return ""
    if isinstance(value, datetime | date | time | timedelta):
        source.fault(
            f"cell {cell.coordinate}",
            f"a date ({value}), as Excel makes of entries like 1-2; format the column as text",
        )
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def write(taxonomy: Taxonomy, *, layout: str = "parent", renumber: bool = False) -> bytes:
    """Write one sheet; every cell is a text, so that no name becomes a formula or a date."""
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    book = openpyxl.Workbook(write_only=True)
    page = book.create_sheet("taxonomy")
    page.freeze_panes = "A2"  # the header stays in sight
    for row in table_rows(taxonomy, layout, renumber):
        cells = []
        for text in row:
            cell = WriteOnlyCell(page, text or None)
            if text:
                cell.data_type = "s"
            cells.append(cell)
        page.append(cells)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
