"""Labelled corpora: readers, splits, and changes to a corpus before it is split."""
