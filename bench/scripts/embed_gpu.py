"""Embedding speed of transformers by `hierseed embed --device`, and how far devices agree.

    python bench/scripts/embed_gpu.py TOKENIZER -o results/embed_gpu.json

TOKENIZER is the tokenizer.json of all-MiniLM-L6-v2. The encoders have the size of MiniLM and of
roberta-base and random weights, on whose values speed does not depend. Documents have
200 words of the tokenizer's vocabulary. With `--reduced` a few documents on the processor try the
script.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

SIZES = {
    "minilm": {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536},
    "roberta-base": {},
}
WORDS, SAME = 200, 256


def write_model(folder, tokenizer, size):
    """An encoder with random weights, as transformers save it."""
    torch.manual_seed(0)
    made = PreTrainedTokenizerFast(tokenizer_file=str(tokenizer), pad_token="[PAD]",
                                   model_max_length=512)  # fmt: skip
    BertModel(BertConfig(vocab_size=made.vocab_size, **size)).save_pretrained(folder)
    made.save_pretrained(folder)
    return made


def write_corpus(file, tokenizer, documents):
    """Documents of words that the tokenizer knows, of all lengths as in English text."""
    draw = random.Random(0)
    words = sorted(word for word in tokenizer.get_vocab() if word.isascii() and word.isalpha())
    with file.open("w") as out:
        out.write("id,text\n")
        for i in range(documents):
            out.write(f"d{i},{' '.join(draw.choices(words, k=WORDS))}\n")


def embed(corpus, model, device, output):
    """Run `hierseed embed`: what it reports, and the seconds of the whole command."""
    began = time.perf_counter()
    command = [sys.executable, "-W", "ignore", "-m", "hierseed", "embed", corpus, "-o", output,
               "--embedder", f"transformers:{model}", "--device", device, "--json",
               "--quiet"]  # fmt: skip
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout), time.perf_counter() - began


def vectors(folder):
    from hierseed.embed.store import VectorStore

    found = np.asarray(VectorStore(folder)[:SAME], dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--reduced", action="store_true")
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args()
    device = "cpu" if chosen.reduced else "cuda"
    n = 40 if chosen.reduced else chosen.documents
    result = {
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "torch": torch.__version__, "words": WORDS, "max_tokens": 256, "weights": "random",
        "rows": [],
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in chosen.sizes:
            tokenizer = write_model(folder / name, chosen.tokenizer, SIZES[name])
            write_corpus(folder / "docs.csv", tokenizer, n)
            write_corpus(folder / "few.csv", tokenizer, min(n, SAME))
            told, whole = embed(folder / "docs.csv", folder / name, device, folder / f"v-{name}")
            begin, _ = embed(folder / "few.csv", folder / name, device, folder / f"f-{name}")
            embed(folder / "few.csv", folder / name, "cpu", folder / f"c-{name}")
            here, there = vectors(folder / f"v-{name}"), vectors(folder / f"c-{name}")
            cosine = (here[: len(there)] * there).sum(axis=1)
            result["rows"].append({
                "size": name, "documents": n, "seconds": told["seconds"],
                "seconds_of_a_few": begin["seconds"],  # torch and the model are loaded
                "documents_per_second": round(n / told["seconds"]),
                "beyond_the_first_few": round(
                    (n - min(n, SAME)) / max(told["seconds"] - begin["seconds"], 1e-9)
                ),
                "whole_command": round(whole, 2), "least_cosine": round(float(cosine.min()), 6),
            })  # fmt: skip
            print(result["rows"][-1], flush=True)
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
