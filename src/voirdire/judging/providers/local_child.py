"""The process that holds the local server: ``python -m voirdire.judging.providers.local_child``.

It reads its settings as one JSON line from standard input, loads the model, and answers on standard output with one
JSON line: the address, or what went wrong. Then it serves until standard input ends, which also happens when the
process that started it is killed. Whatever the server logs goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, TextIO

WARNINGS = 2
"""What llama.cpp logs: errors and warnings, not a dozen lines for every call."""


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    settings = json.loads(sys.stdin.readline())
    try:
        server = start(settings)
    except Exception as error:  # noqa: BLE001 - told to the process that waits for the address
        _answer(answers, {"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
    sys.stderr.write(f"{server.listening_address}\n")
    sys.stderr.flush()
    _answer(answers, {"address": server.listening_address})
    sys.stdin.read()
    os._exit(0)


def start(settings: dict[str, Any]) -> Any:
    """A running llama.cpp server on 127.0.0.1, on a free port.

    Attention is computed and kept in 32 bits: what the server remembers of earlier prompts then changes a reply
    least. It still may, in the second digit of a log-probability.

    settings : model, threads, slots, context (tokens a slot), template, key, cache_mib; mmproj where there is one
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.mmproj.path = settings.get("mmproj", "")
    params.mmproj_use_gpu = False
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings["key"]]
    params.chat_template = settings["template"]
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["slots"] * settings["context"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.n_gpu_layers = 0
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.cache_ram_mib = settings["cache_mib"]
    params.warmup = params.ui = False
    params.verbosity = WARNINGS
    params.model_alias = {settings["alias"]}
    return xllamacpp.Server(params)


def _answer(answers: TextIO, said: dict[str, str]) -> None:
    answers.write(json.dumps(said) + "\n")
    answers.close()


if __name__ == "__main__":
    main()
