"""The default method on arrays: a Gaussian mixture over the tree (docs/method.md)."""
