"""Compile the kernels for Hopper, with or without a GPU, and report the resources they would use.

`bench_gpu.py --compile` writes this to results/gpu_kernels.json. Registers that do not suffice
are spilled to memory: `stack_bytes` should be 0, or small and outside the inner loop.
"""

import re
import subprocess
import tempfile
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from hierseed.engines.torch.kernels import assign_kernel, sum_kernel
from hierseed.engines.torch.launch import ASSIGN, SUM, tiles

HOPPER = GPUTarget("cuda", 90, 32)
SHARED = 227 * 1024  # bytes that a program may have there
POINTERS = {
    "rows": "*i32", "family": "*i32", "squares": "*fp64", "c2": "*fp32", "of_centre": "*i32",
    "longest": "*fp32", "moved": "*fp32", "best_out": "*i32", "margin_out": "*fp32",
    "order": "*i64", "piece": "*i64", "sums": "*fp64",
}  # fmt: skip
NUMBERS = {
    "n": "i32",
    "K": "i32",
    "width": "i32",
    "relative": "fp32",
    "scale": "fp32",
}


def compile_all():
    found = []
    for dtype, width, centres in (("fp16", 384, 141), ("fp16", 768, 141), ("fp32", 384, 141)):
        wide, behind = tiles(centres)
        for setting in ASSIGN:
            sizes = {
                "D": width, "GATHER": False, "FAMILIES": True, "EVEN": width % 64 == 0,
                "PRECISION": "tf32x3", "WIDE": wide, "TAIL": behind, **setting.kwargs,
            }  # fmt: skip
            about = {"dtype": dtype, "dimensions": width, "centres": centres}
            found.append(about | resources(assign_kernel, dtype, sizes, setting))
    for dtype in ("fp16", "fp32"):
        for setting in SUM:
            sizes = {"D": 384, "EVEN": True, "ON_GRID": dtype == "fp16", **setting.kwargs}
            about = {"dtype": dtype, "dimensions": 384}
            found.append(about | resources(sum_kernel, dtype, sizes, setting))
    assert all(entry["shared_bytes"] <= SHARED for entry in found if entry["dtype"] == "fp16")
    return {"target": "sm_90", "triton": triton.__version__, "kernels": found}


def resources(kernel, dtype, sizes, setting):
    signature = POINTERS | NUMBERS | {"X": f"*{dtype}", "C": f"*{dtype}"}
    signature |= dict.fromkeys(sizes, "constexpr")
    names = kernel.arg_names
    aligned = [["tt.divisibility", 16]]
    source = ASTSource(
        fn=kernel,
        signature={name: signature[name] for name in names},
        constexprs=sizes,
        attrs={(i,): aligned for i, name in enumerate(names) if signature[name][0] == "*"},
    )
    options = {"num_warps": setting.num_warps, "num_stages": setting.num_stages}
    if setting.maxnreg:
        options["maxnreg"] = setting.maxnreg
    made = triton.compile(source, target=HOPPER, options=options)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(made.asm["cubin"])
        file.flush()
        tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
        usage, code = (
            subprocess.run([tool, flag, file.name], capture_output=True, text=True, check=True)
            for flag in ("-res-usage", "-sass")
        )
    return {
        "kernel": kernel.__name__, **setting.kwargs, **options,
        "registers": int(re.search(r"REG:(\d+)", usage.stdout + usage.stderr)[1]),
        "stack_bytes": int(re.search(r"STACK:(\d+)", usage.stdout + usage.stderr)[1]),
        "shared_bytes": made.metadata.shared,
        "warpgroup_products": len(re.findall("HGMMA", code.stdout)),
    }  # fmt: skip
