"""The estimators: check inputs, call the core, name the results. `registry` lists them."""
