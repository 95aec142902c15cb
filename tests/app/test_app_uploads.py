"""What may be uploaded is what the readers know."""

import pytest

from hierseed.app.uploads import ending
from hierseed.errors import CorpusError
from hierseed.io.records import READERS
from hierseed.io.records.database import ENDINGS as DATABASES
from hierseed.io.taxonomies import FORMATS

TABLES = set(READERS) - set(DATABASES)


@pytest.mark.parametrize(
    "known", sorted({*TABLES, *(e for f in FORMATS.values() for e in f.endings)})
)
def test_every_ending_that_a_reader_knows_is_taken(known):
    assert ending(f"file{known}") == known


def test_other_endings_are_refused_with_those_there_are():
    with pytest.raises(CorpusError, match=r"'\.docx'.*\.csv.*\.turtle"):
        ending("file.docx")
