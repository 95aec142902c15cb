"""The algorithm on arrays: no files, no names. One module per step of the paper."""
