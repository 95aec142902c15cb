"""The estimators: check inputs, call the core, name the results. `parameters` lists them."""
