"""Passes of k-means beside the bare product and other libraries; whole fits; one document.

    python bench/scripts/bench_pass.py    all parts
    python bench/scripts/bench_pass.py arxiv-1 384-2    some: a data set and a number of threads
    python bench/scripts/bench_pass.py fit-1 fit-2    whole fits beside k-means
    python bench/scripts/bench_pass.py predict    one document

All of a part runs in one process, in turn, and the least of several runs counts. Ratios are of
processor time, which other programs on the machine disturb least; time on the clock stands beside
it. Every library starts from the same centres and goes on for the same number of rounds on all
rows. A part replaces its entry in results/bench_pass.json.
"""

import gzip
import json
import sys
import warnings
from contextlib import suppress
from functools import partial

import numpy as np
from machine import DATA, RESULTS, describe, least, write
from threadpoolctl import threadpool_limits

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy
from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.exact import Grid
from hierseed.core.hierseed.descend import placed
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.refine import move, refine
from hierseed.core.kernels import compiled
from hierseed.core.tree import Tree

SETS = {  # documents, width, centres, rounds
    "arxiv": (None, 384, 116, 10),
    "384": (1_000_000, 384, 116, 4),
    "768": (1_000_000, 768, 141, 4),
}

# ------------------------------------------------------------------ a pass


def arxiv():
    """Taxonomy, prepared vectors, and four seeds a topic of the arXiv set."""
    folder = DATA / "arxiv"
    X = np.load(folder / "minilm.npy").astype(np.float32)
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    with gzip.open(folder / "docs.jsonl.gz", "rt") as file:
        paths = [tuple(json.loads(line)["labels"][0]) for line in file]
    taxonomy = Taxonomy.from_paths(sorted(set(paths)))
    truth = np.array([taxonomy.index(path) for path in paths])
    rng = np.random.default_rng(0)
    y = np.full(len(X), -1)
    for topic in np.unique(truth):
        y[rng.choice(np.flatnonzero(truth == topic), 4, replace=False)] = topic
    return taxonomy, X, y


def clouds(n, width, k, seed=0):
    """Unit vectors around k centres that overlap, and the first guess at these centres."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, width)).astype(np.float32)
    X = np.empty((n, width), dtype=np.float32)
    for at in range(0, n, 50_000):
        some = X[at : at + 50_000]
        rng.standard_normal(out=some, dtype=np.float32)
        some *= 2.0
        some += centres[rng.integers(0, k, len(some))]
        some /= np.linalg.norm(some, axis=1, keepdims=True)
    return X, X[rng.choice(n, 4 * k, replace=False)].reshape(k, 4, width).mean(axis=1)


def rows_and_centres(name):
    n, width, k, _ = SETS[name]
    if n:
        return clouds(n, width, k)
    taxonomy, X, y = arxiv()
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    return X, np.array([X[y == leaf].mean(axis=0) for leaf in leaves])


def one_topic(C):
    """A model whose refinement is k-means on all rows: one topic that reaches everything."""
    vectors = np.concatenate([C.mean(axis=0, keepdims=True), C]).astype(np.float64)
    reach = np.full(len(vectors), np.nan)
    reach[0] = np.inf
    return Model(Tree([-1] + [0] * len(C)), 1, vectors, reach, np.full(len(vectors), np.nan))


def bare_product(X, C):
    """The product alone, its result thrown away piece by piece: no pass can take less."""
    out = np.empty((1024, len(C)), dtype=np.float32)
    for at in range(0, len(X), 1024):
        some = X[at : at + 1024]
        np.matmul(some, C.T, out=out[: len(some)])


def first_pass(X, C, threads, times):
    """Least seconds of a pass that looks at every document and adds up every one."""
    blocks, grid = ArrayBlocks(X, threads=threads), Grid.holding(len(X), 1.1)
    best = (np.inf, np.inf)
    for _ in range(times):
        model = one_topic(C)  # a new model: blocks drop what they cached for the last one
        list(blocks.map(placed, model, 1))
        step = partial(blocks.fold, move, model, 1, model.vectors, None, None, grid)
        clock, processor, moves = least(1, step)
        assert moves.moved == len(X)
        best = min(best[0], clock), min(best[1], processor)
    return best


def ours(X, C, threads, rounds):
    blocks = ArrayBlocks(X, threads=threads)
    return refine(blocks, one_topic(C), Grid.holding(len(X), 1.1), max_iter=rounds, tol=0.0)


def inertia(X, C, rows=20_000):
    some = X[:: max(len(X) // rows, 1)].astype(np.float64)
    D = (C**2).sum(axis=1) - 2 * some @ np.asarray(C, dtype=np.float64).T
    return float((D.min(axis=1) + (some**2).sum(axis=1)).mean())


def libraries(X, C, threads, rounds):
    from sklearn.cluster import KMeans, MiniBatchKMeans

    k = len(C)
    same = {"init": C, "n_init": 1, "max_iter": rounds, "tol": 0}
    yield "scikit-learn KMeans", lambda: KMeans(k, **same).fit(X).cluster_centers_
    with suppress(ImportError):
        import faiss

        def run():
            faiss.omp_set_num_threads(threads)
            model = faiss.Kmeans(X.shape[1], k, niter=rounds, max_points_per_centroid=len(X))
            model.train(X, init_centroids=C)
            return model.centroids

        yield "faiss Kmeans", run
    yield (
        "scikit-learn MiniBatchKMeans",
        lambda: MiniBatchKMeans(k, max_no_improvement=None, **same).fit(X).cluster_centers_,
    )


def one_set(name, threads, keep):
    """Measure one set; `keep` is given what is known after each system, should time run out."""
    if name == "arxiv" and not DATA.is_dir():
        keep({"skipped": "the labelled corpora are not here: set HIERSEED_DATA"})
        return
    warnings.simplefilter("ignore")
    compiled.BREAK_EVEN = 0
    X, C = rows_and_centres(name)
    rounds, times = SETS[name][-1], 9 if name == "arxiv" else 1
    with threadpool_limits(threads):
        first_pass(X[:20_000], C, threads, 1)  # libraries loaded, loops compiled
        product, whole = (np.inf, np.inf), (np.inf, np.inf)
        for _ in range(2):
            found = least(times, lambda: bare_product(X, C))
            product = min(product[0], found[0]), min(product[1], found[1])
            found = first_pass(X, C, threads, times)
            whole = min(whole[0], found[0]), min(whole[1], found[1])
        found = {
            "documents": len(X), "width": X.shape[1], "centres": len(C), "threads": threads,
            "product_s": product[0], "product_processor_s": product[1],
            "full_pass_s": whole[0], "full_pass_processor_s": whole[1],
            "full_pass_in_products": whole[1] / product[1],
            "full_pass_in_products_by_the_clock": whole[0] / product[0],
            "rounds": rounds, "compiled": compiled.load_kernels() is not None, "systems": [],
        }  # fmt: skip
        keep(found)
        systems = [("this package", lambda: ours(X, C, threads, rounds).vectors[1:])]
        for title, run in [*systems, *libraries(X, C, threads, rounds)]:
            clock, processor, centres = least(3 if name == "arxiv" else 1, run)
            row = {"name": title, "seconds": clock, "processor_seconds": processor}
            found["systems"].append(row)
            own = found["systems"][0]
            row["inertia"] = inertia(X, centres)
            row["round_in_products"] = processor / rounds / product[1]
            row["times_ours"] = processor / own["processor_seconds"]
            row["times_ours_by_the_clock"] = clock / own["seconds"]
            keep(found)


# ------------------------------------------------------------------ whole fits


def whole_fit(threads):
    """Whole fits beside ten iterations of KMeans on the leaves, all in turn."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    if not DATA.is_dir():
        return {"skipped": "the labelled corpora are not here: set HIERSEED_DATA"}
    taxonomy, X, y = arxiv()
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    means = np.array([X[y == leaf].mean(axis=0) for leaf in leaves])
    warnings.simplefilter("ignore", ConvergenceWarning)
    systems = {
        "HierSeed": lambda: HierSeed(taxonomy, n_jobs=threads).fit(X, y),
        "AnchoredHierSeed": lambda: AnchoredHierSeed(taxonomy, n_jobs=threads).fit(X, y),
        "scikit-learn KMeans": lambda: KMeans(len(leaves), init=means, n_init=1, max_iter=10).fit(
            X
        ),
        "one product, all leaves": lambda: X @ means.T,
    }
    best = dict.fromkeys(systems, (np.inf, np.inf))
    with threadpool_limits(threads):
        for _ in range(4 * threads):  # in turn, so that all see the same load
            for name, run in systems.items():
                clock, processor, _ = least(1, run)
                best[name] = min(best[name][0], clock), min(best[name][1], processor)
    rounds = HierSeed(taxonomy).fit(X, y).n_iter_
    kind = 1 if threads == 1 else 0  # several threads by the clock, one by the processor
    kmeans = best["scikit-learn KMeans"][kind]
    return {
        "documents": len(X), "width": X.shape[1], "topics": len(taxonomy), "rounds": rounds,
        "threads": threads, "machine": describe(),
        "systems": {name: {"seconds": both[0], "processor_seconds": both[1],
                           "times_kmeans": both[kind] / kmeans}
                    for name, both in best.items()},
    }  # fmt: skip


# ------------------------------------------------------------------ one document


def some_corpus():
    if DATA.is_dir():
        return arxiv()
    X, _ = clouds(20_000, 384, 60)
    taxonomy = Taxonomy.from_paths([(f"t{a}", f"s{b}") for a in range(6) for b in range(10)])
    y = np.full(len(X), -1)
    y[:240] = np.repeat(np.flatnonzero(taxonomy.tree.is_leaf), 4)
    return taxonomy, X, y


def predict():
    """Median and 99th percentile of `predict` on one row, again and again on a warm model."""
    warnings.simplefilter("ignore")
    taxonomy, X, y = some_corpus()
    rows = []
    for kind in (HierSeed, AnchoredHierSeed):
        model = kind(taxonomy).fit(X, y)
        clock, processor = [], []
        for number in range(3000):
            taken, used, _ = least(1, partial(model.predict, X[number : number + 1]))
            clock.append(1e3 * taken)
            processor.append(1e3 * used)
        rows.append({"estimator": kind.__name__, "topics": len(model.taxonomy_),
                     "median_ms": float(np.median(clock)),
                     "p99_ms": float(np.percentile(clock, 99)),
                     "processor_median_ms": float(np.median(processor)),
                     "processor_p99_ms": float(np.percentile(processor, 99))})  # fmt: skip
    return rows


def store(part, found):
    """Put a part into the record as it is now: other parts may be made at the same time."""
    old = RESULTS / "bench_pass.json"
    record = json.loads(old.read_text()) if old.exists() else {}
    if "machine" not in found:  # whole fits have one of their own
        record.pop("machine", None)
    record[part] = found
    print(json.dumps({part: found}, indent=1), flush=True)
    write("bench_pass", record)


def main():
    passes = [f"{name}-{threads}" for name in SETS for threads in (1, 2)]
    others = {"fit-1": partial(whole_fit, 1), "fit-2": partial(whole_fit, 2), "predict": predict}
    for part in sys.argv[1:] or [*passes, *others]:
        if part in others:
            store(part, others[part]())
        elif part in passes:
            name, threads = part.rsplit("-", 1)
            one_set(name, int(threads), partial(store, part))
        else:
            sys.exit(f"no part {part!r}: choose of {', '.join([*passes, *others])}")


if __name__ == "__main__":
    main()
