"""Vectors around the leaves of a tree, their taxonomy and seeds: for bench_machine.py."""

import time

import numpy as np

WIDTH, TOPICS, LEAVES, SEEDS = 384, 11, 141, 4
FULL = {"rows": 1_000_000, "mid": 5_000_000, "large": 20_000_000, "texts": 20_000, "device": "cuda",
        "many": (100_000_000, 64)}  # fmt: skip
REDUCED = {"rows": 20_000, "mid": 6_000, "large": 8_000, "texts": 300, "device": "cpu",
           "many": (50_000, 16)}  # fmt: skip
WRITING = 100  # seconds that the largest file may take


def taxonomy():
    from hierseed import Taxonomy

    paths = [f"topic {leaf % TOPICS} > leaf {leaf}" for leaf in range(LEAVES)]
    made = Taxonomy.from_paths(paths)
    return made, np.array([made.index(path) for path in paths])


def vectors(folder, rows):
    """A file of unit vectors in half precision around the leaves of a tree, and the seeds."""
    file = folder / f"{rows}.npy"
    tree, leaves = taxonomy()
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((TOPICS, WIDTH))[np.arange(LEAVES) % TOPICS]
    centres = (centres + 0.7 * rng.standard_normal(centres.shape)).astype(np.float32)
    truth = rng.integers(0, LEAVES, rows)
    if not file.exists():
        unfinished = file.with_suffix(".part")
        with unfinished.open("wb") as out:
            write_header(out, rows, WIDTH)
            for at in range(0, rows, 1 << 18):
                cloud(centres[truth[at : at + (1 << 18)]], at).astype(np.float16).tofile(out)
        unfinished.rename(file)
    y = np.full(rows, -1)
    for leaf, topic in enumerate(leaves):
        y[np.flatnonzero(truth[: 1 << 18] == leaf)[:SEEDS]] = topic
    return tree, file, y


def write_header(out, rows, width):
    header = {"descr": "<f2", "fortran_order": False, "shape": (rows, width)}
    np.lib.format.write_array_header_1_0(out, header)


def repeat(file, X, rows):
    """Write the rows of X again and again, as many as fit time and disk; how many, and seconds."""
    began, at = time.perf_counter(), 0
    with file.open("wb") as out:
        write_header(out, rows, X.shape[1])
        start = out.tell()
        while at < rows and time.perf_counter() - began < WRITING:
            part = X[: rows - at]
            try:
                part.tofile(out)
            except OSError:
                break  # the disk is full
            at += len(part)
        out.truncate(start + at * X.shape[1] * X.itemsize)
        out.seek(0)
        write_header(out, at, X.shape[1])  # as long as before: numpy leaves room
        assert out.tell() == start
    return at, round(time.perf_counter() - began, 1)


def seeds_by_path(tree, y):
    return {
        tree.paths[topic]: np.flatnonzero(y == topic).tolist() for topic in np.unique(y[y >= 0])
    }


def cloud(centres, seed):
    """Documents around their centres; on the GPU where there is one, which is much faster."""
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None or not torch.cuda.is_available():
        noise = np.random.default_rng(seed).standard_normal(centres.shape, dtype=np.float32)
        some = centres + 3.0 * noise
        return some / np.linalg.norm(some, axis=1, keepdims=True)
    torch.manual_seed(seed)
    there = torch.from_numpy(centres).cuda()
    there += 3.0 * torch.randn_like(there)
    return torch.nn.functional.normalize(there).half().cpu().numpy()


def inputs(size, folder, rows):
    """Files for a fit by the command line: vectors, taxonomy, seeds."""
    tree, file, y = vectors(folder, size[rows])
    (folder / "topics.txt").write_text("\n".join(tree.paths) + "\n")
    lines = [f"{row},{tree.paths[y[row]]}" for row in np.flatnonzero(y >= 0)]
    seeds = folder / f"seeds-{rows}.csv"
    seeds.write_text("\n".join(["id,topic", *lines]) + "\n")
    return file, "--taxonomy", folder / "topics.txt", "--seeds", seeds
