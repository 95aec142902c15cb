"""The benchmark of hierseed: competitors, data sets, runs, tables and figures."""
