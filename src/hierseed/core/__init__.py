"""The algorithms on arrays: no files, no names.

`hierseed` holds the paper's steps, `mixture` the default method, `kernels` compiled code; the
modules beside them are shared.
"""
