"""Settings of the paper's systems that learn from unlabelled texts: hLDA, TSNTM, JoSH, WeSHClass.

`systems.py` runs them. hLDA and TSNTM read no labels and JoSH only the topics' names, so that a
draw changes nothing for them but the random numbers.
"""

from itertools import product

from hierseed_bench.runs.config import Setting

# Shorter than published: TSNTM about 20,000 steps with a look at the tree every 1,000 (up to
# 1,000 epochs, every 5,000), WeSHClass at most so many batches of self-training a level (5,000),
# hLDA 150 or 200 sweeps (500)
SHORTER = {
    ("tsntm", "arxiv"): {"epochs": 60, "update_every": 1000},
    ("tsntm", "20newsgroups"): {"epochs": 110, "update_every": 1000},
    ("tsntm", "cap"): {"epochs": 200, "update_every": 1000},
    ("tsntm", "us_code"): {"epochs": 400, "update_every": 1000},
    ("weshclass", "arxiv"): {"iterations": 900},
    ("weshclass", "20newsgroups"): {"iterations": 1500},
    ("weshclass", "cap"): {"iterations": 900},
    ("weshclass", "us_code"): {"iterations": 120},
    ("hlda", "arxiv"): {"sweeps": 150, "infer_sweeps": 20},
    ("hlda", "20newsgroups"): {"sweeps": 200, "infer_sweeps": 50},
    ("hlda", "us_code"): {"sweeps": 150, "infer_sweeps": 20},
}
ORDER = ("hlda", "weshclass", "tsntm", "josh")  # the longest first
ABLATIONS = (
    ("josh", {"tree": False}, "without the tree term"),
    ("weshclass", {"self_training": False}, "without self-training"),
    ("weshclass", {"use_seed_docs": False}, "keywords alone"),
)
ABLATED = ("20newsgroups", "arxiv")
LSTM = (  # a small language model, trained for 2 epochs (25) on 3,000 words (10,000)
    "language model, without self-training",
    {"writer": "lstm", "lm_epochs": 2, "lm_words": 3000, "self_training": False},
)
WORDS = "a word a topic"
SAMPLE = f"{WORDS}, 3,000 documents"
# One word a topic for 20 Newsgroups, in the order of its taxonomy
NAMES = {
    "religion": "religion", "alt.atheism": "atheism", "soc.religion.christian": "christian",
    "talk.religion.misc": "morality", "comp": "computer", "comp.graphics": "graphics",
    "comp.os.ms-windows.misc": "windows", "comp.sys.ibm.pc.hardware": "bios",
    "comp.sys.mac.hardware": "mac", "comp.windows.x": "motif", "misc": "sale",
    "misc.forsale": "shipping", "rec": "sports", "rec.autos": "cars",
    "rec.motorcycles": "motorcycle", "rec.sport.baseball": "baseball",
    "rec.sport.hockey": "hockey", "sci": "science", "sci.crypt": "encryption",
    "sci.electronics": "circuit", "sci.med": "medical", "sci.space": "space",
    "politics": "politics", "talk.politics.guns": "guns",
    "talk.politics.mideast": "israel", "talk.politics.misc": "clinton",
}  # fmt: skip


def setting(data, method, *, draw=0, tag="", limit=0, **options):
    options = tuple(sorted((SHORTER.get((method, data), {}) | options).items()))
    return Setting(data, method, draw=draw, limit=limit, parameters=options, tag=tag)


def one_word_names(shuffled=False):
    from hierseed_bench.data.catalogue import load_dataset

    taxonomy = load_dataset("20newsgroups").taxonomy
    names = [NAMES[name] for name in taxonomy.names]
    if shuffled:  # each leaf is told by the next one's word
        leaves = [topic for topic in range(len(names)) if taxonomy.tree.is_leaf[topic]]
        moved = [names[topic] for topic in leaves[1:] + leaves[:1]]
        for topic, name in zip(leaves, moved):
            names[topic] = name
    return names


def wanted(parts, data, draws):
    for part in parts:
        if part == "seeds":
            for draw, method, name in product(draws, ORDER, data):
                tag = "shorter" if (method, name) in SHORTER else ""
                yield setting(name, method, draw=draw, tag=tag)
        if part == "ablations":
            for name, (method, options, tag) in product(data, ABLATIONS):
                if name in ABLATED or method == "josh":
                    yield setting(name, method, tag=tag, **options)
        if part == "checks" and "20newsgroups" in data:
            words, shuffled = one_word_names(), one_word_names(shuffled=True)
            for (tag, limit), (more, options) in product(
                ((WORDS, 0), (SAMPLE, 3000)),
                (
                    ("", {"names": words}),
                    (", without the tree term", {"names": words, "tree": False}),
                    (", shuffled among the leaves", {"names": shuffled}),
                ),
            ):
                yield setting("20newsgroups", "josh", tag=tag + more, limit=limit, **options)
            yield setting("20newsgroups", "weshclass", tag="keywords of all labels", full=True)
            yield setting("20newsgroups", "weshclass", tag=LSTM[0], **LSTM[1])
