"""How many tokens a text has, counted offline; and nothing else."""

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from difftrust_core.exceptions import DifftrustError
from difftrust_core.tasks import Task

if TYPE_CHECKING:
    from tiktoken import Encoding

ENCODING = "o200k_base"
"""GPT-4o's. Every model's tokens are counted with it, so that one recorded program has one number."""
PUBLISHED_WORDING_TOKENS = 90
"""What the published prompt says around a task's signature and description.

The prompt itself is not recorded; its length is what the published expenses leave after the programs and the tasks'
own text: 92 tokens on HumanEval, 90 on MBPP, at each of the three temperatures.
"""
_FOLDER = "TIKTOKEN_CACHE_DIR"


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each text. Raises DifftrustError if the tokenizer's file is not installed."""
    encoding = _encoding()
    return [len(tokens) for tokens in encoding.encode_ordinary_batch(list(texts), num_threads=1)]


def recorded_prompt_tokens(task: Task) -> int:
    """Return the prompt tokens of a recorded candidate: its task's own text, and the wording around it."""
    own = f"def {task.entry_point}{task.signature}:\n{task.description}"
    return count_tokens([own])[0] + PUBLISHED_WORDING_TOKENS


def _encoding() -> "Encoding":
    import tiktoken

    # litellm brings the files along; tiktoken alone would fetch them. It remembers an encoding once it has it.
    found = importlib.util.find_spec("litellm")
    places = found.submodule_search_locations if found else None
    folder = Path(places[0]) / "litellm_core_utils" / "tokenizers" if places else Path()
    if not (folder / "fb374d419588a4632f3f557e76b4b70aebbca790").is_file():
        raise DifftrustError(f"no tokenizer {ENCODING} in {folder}; install the litellm version of requirements.lock")
    before = os.environ.get(_FOLDER)
    os.environ[_FOLDER] = str(folder)
    try:
        return tiktoken.get_encoding(ENCODING)
    finally:
        if before is None:
            del os.environ[_FOLDER]
        else:
            os.environ[_FOLDER] = before
