"""Runs: what one run is, its record on disk, and the plans of many runs."""
