"""`python -m hierseed_bench` is `hierseed bench`."""

from hierseed_bench.command import bench

bench(prog_name="hierseed bench")
