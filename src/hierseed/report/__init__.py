"""One self-contained HTML page about a fitted model: gather computes it, page renders it."""
