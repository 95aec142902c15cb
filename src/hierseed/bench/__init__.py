"""The paper's experiments and ours: data sets, splits, runs, tables and figures."""
