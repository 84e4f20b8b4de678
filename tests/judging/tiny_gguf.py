"""A tiny image projector with random weights, as a GGUF file (version 3) for llama.cpp.

Form of the file: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The encoder sees images of 32 x 32 pixels
in sixteen patches, has two blocks of width 16, and projects on the width of the language model (llava's ``mlp``).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

SIDE, PATCH, WIDTH, INNER, BLOCKS, HEADS = 32, 8, 16, 32, 2, 2
PATCHES = (SIDE // PATCH) ** 2
ALIGNMENT = 32
UINT32, FLOAT32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9


def write_projector(path: Path, projection: int, seed: int = 0) -> None:
    """Write a projector on embeddings of a width; the same seed gives the same weights."""
    rng = np.random.default_rng(seed)
    facts = {
        "general.architecture": "clip",
        "general.name": "tiny random projector",
        "clip.has_vision_encoder": True,
        "clip.projector_type": "mlp",
        "clip.use_gelu": True,
        "clip.vision.image_size": SIDE,
        "clip.vision.patch_size": PATCH,
        "clip.vision.embedding_length": WIDTH,
        "clip.vision.feed_forward_length": INNER,
        "clip.vision.block_count": BLOCKS,
        "clip.vision.projection_dim": projection,
        "clip.vision.attention.head_count": HEADS,
        "clip.vision.attention.layer_norm_epsilon": 1e-5,
        "clip.vision.image_mean": [0.5, 0.5, 0.5],
        "clip.vision.image_std": [0.5, 0.5, 0.5],
    }
    write_gguf(path, facts, _tensors(projection, rng))


def _tensors(projection: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    def drawn(*shape: int) -> np.ndarray:
        return rng.normal(0, 1 / np.sqrt(shape[-1]), shape).astype(np.float32)

    tensors = {
        "v.patch_embd.weight": rng.normal(0, 0.1, (WIDTH, 3, PATCH, PATCH)).astype(np.float32),
        "v.position_embd.weight": drawn(PATCHES, WIDTH),
    }
    for block in range(BLOCKS):
        at = f"v.blk.{block}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
            tensors |= {f"{at}.{name}.weight": drawn(WIDTH, WIDTH), f"{at}.{name}.bias": drawn(WIDTH)}
        for name in ("ln1", "ln2"):
            tensors |= {f"{at}.{name}.weight": np.ones(WIDTH, np.float32), f"{at}.{name}.bias": drawn(WIDTH)}
        tensors |= {f"{at}.ffn_up.weight": drawn(INNER, WIDTH), f"{at}.ffn_up.bias": drawn(INNER)}
        tensors |= {f"{at}.ffn_down.weight": drawn(WIDTH, INNER), f"{at}.ffn_down.bias": drawn(WIDTH)}
    tensors |= {"mm.0.weight": drawn(INNER, WIDTH), "mm.0.bias": drawn(INNER)}
    return tensors | {"mm.2.weight": drawn(projection, INNER), "mm.2.bias": drawn(projection)}


def write_gguf(
    path: Path,
    facts: dict[str, Any],
    tensors: dict[str, np.ndarray],
    packed: Mapping[str, tuple[tuple[int, ...], int]] = MappingProxyType({}),
) -> None:
    """Write facts and tensors; dimensions are stored with the fastest first.

    packed : shape and type of tensors that are given as blocks; all others are float32
    """
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts))
    for key, value in facts.items():
        kind, content = _value(value)
        head += _text(key) + struct.pack("<I", kind) + content
    data = b""
    for name, tensor in tensors.items():
        shape, kind = packed.get(name, (tensor.shape, 0))
        head += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], kind, len(data))
        data += _padded(tensor.tobytes())
    path.write_bytes(_padded(head) + data)


def _value(value: Any) -> tuple[int, bytes]:
    if isinstance(value, bool):
        return BOOL, struct.pack("<?", value)
    if isinstance(value, int):
        return UINT32, struct.pack("<I", value)
    if isinstance(value, float):
        return FLOAT32, struct.pack("<f", value)
    if isinstance(value, str):
        return STRING, _text(value)
    return ARRAY, struct.pack(f"<IQ{len(value)}f", FLOAT32, len(value), *value)


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % ALIGNMENT)
