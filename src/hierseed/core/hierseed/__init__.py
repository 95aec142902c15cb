"""HierSeed (Saha et al. 2022): one module per step of the paper; `loop` runs them."""
