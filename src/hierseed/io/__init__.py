"""Files to objects and back: corpora, seeds, taxonomies, tables, models."""
