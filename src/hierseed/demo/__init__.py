"""The whole job on text that is on every machine: the docstrings of Python's own library."""
