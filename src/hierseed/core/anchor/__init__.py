"""The anchored mixture on arrays: one module per part of the model in docs/method.md."""
