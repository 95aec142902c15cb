"""Embedding speed of the transformer path on a GPU, and whether it gives the CPU's vectors.

    python bench/scripts/embed_gpu.py FOLDER -o results/embed_gpu.json

FOLDER holds `model/` (all-MiniLM-L6-v2 as transformers save it), `texts.jsonl.gz` (a text a
line, as JSON strings) and `reference.npy` (float vectors of the first texts). Beside MiniLM, an
encoder of roberta-base's size is timed with random weights: speed does not depend on their values.
"""

import argparse
import gzip
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer, BertConfig, BertModel

from hierseed.embed.mean_pooling import MeanPooling


def timed(embedder, texts, repeats=3):
    """Documents a second, the best of a few runs; the first texts warm it up."""
    embedder.encode(texts[:256])
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        embedder.encode(texts)
        seconds.append(time.perf_counter() - started)
    return round(len(texts) / min(seconds), 1)


def cosines(a, b):
    return (a * b).sum(axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args()
    with gzip.open(chosen.folder / "texts.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line) for line in lines]
    reference = np.load(chosen.folder / "reference.npy").astype(np.float32)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    minilm = MeanPooling(str(chosen.folder / "model"), device=device)
    agreement = cosines(minilm.encode(texts[: len(reference)]), reference)
    with tempfile.TemporaryDirectory() as folder:
        size = AutoTokenizer.from_pretrained(chosen.folder / "model").vocab_size
        BertModel(BertConfig(vocab_size=size)).save_pretrained(folder)
        AutoTokenizer.from_pretrained(chosen.folder / "model").save_pretrained(folder)
        base = MeanPooling(folder, device=device)
    on_cpu = MeanPooling(str(chosen.folder / "model"), device="cpu")
    result = {
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "torch": torch.__version__,
        "texts": len(texts),
        "words_per_text": round(float(np.mean([len(text.split()) for text in texts])), 1),
        "max_tokens": minilm.max_tokens,
        "documents_per_second": {
            "minilm": timed(minilm, texts),
            "roberta-base's size, random weights": timed(base, texts),
            "minilm on that machine's CPU": timed(on_cpu, texts[:256], repeats=1),
        },
        "cpu_threads": torch.get_num_threads(),
        "cosine_with_float32": {
            "mean": round(float(agreement.mean()), 6),
            "least": round(float(agreement.min()), 6),
        },
    }
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
