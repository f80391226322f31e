"""One request to any model litellm knows, the simulated ones included: a reply, or why there is none. Its only door."""

import asyncio
import email.utils
import logging
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from difftrust_core.base.records import Candidate
from difftrust_core.base.task import Task
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.refusals import address_of, check_address, no_connection, refused, unreachable
from difftrust_core.generation.secrets import known_secrets, short_reason, without_secrets
from difftrust_core.generation.simulated import SIMULATED, check_coder, sample_simulated
from difftrust_core.languages.language import language_of

_SIMULATED = "simulated"
_QUIET = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore")
_SILENCE = 100
"""A logging level above all that is said: what libraries log of a request may hold its headers."""
_NO_KEY = "none"
"""What a server that needs no key is sent, as the protocol asks for one."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One request for one program. ``task``, ``sample_index``, ``m`` and ``seed`` are for the simulated coders."""

    model: str
    prompt: str
    temperature: float
    max_tokens: int
    timeout: float
    """Seconds until the whole reply must be there."""
    api_base: str | None
    task: Task
    sample_index: int
    m: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back, without the secrets of this environment. Token counts are None where the provider gave none."""

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    finish_reason: str | None
    reply_id: str | None
    served_model: str | None


class NoReply(Exception):
    """A request that brought no reply."""

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        answered: bool,
        is_lasting: bool = False,
        is_unreachable: bool = False,
    ):
        super().__init__(reason)
        self.reason = reason
        self.status = status
        """The HTTP status, None where there was none."""
        self.retry_after = retry_after
        """Seconds the provider asks to wait."""
        self.answered = answered
        """The provider said no; otherwise a reply may have been made, and charged, that was not read."""
        self.is_lasting = is_lasting
        """Asking again can help neither this request nor any other to the same model: the key, the name."""
        self.is_unreachable = is_unreachable
        """No connection came about: nobody was asked."""

    @property
    def is_pushback(self) -> bool:
        """The provider wants fewer requests."""
        return self.status in (429, 503)

    @property
    def can_be_retried(self) -> bool:
        """Asking again may help."""
        if self.is_lasting:
            return False
        return self.status is None or self.status in (408, 409, 425, 429) or self.status >= 500


def check_model(model: str, *, api_base: str | None, tasks: Sequence[Task]) -> None:
    """Refuse what cannot work before anything is asked. Raises WrongUsage."""
    if model.startswith(f"{_SIMULATED}/"):
        for task in tasks:
            check_coder(task, model)
        return
    guessed = model.partition("/")[0]
    address, source = address_of(guessed, api_base, os.environ)
    if source:  # before litellm is imported, which takes seconds
        check_address(address, source)
    litellm = _litellm()
    try:
        litellm.get_llm_provider(model, api_base=api_base)
    except Exception:  # litellm's own class, with advice of many lines
        raise WrongUsage(
            f"litellm knows no provider for {model!r}; write provider/model, for a server of your own "
            "openai/MODEL with --api-base"
        ) from None
    if api_base is None:
        missing = litellm.validate_environment(model).get("missing_keys", [])
        if missing and all(name.endswith("_API_KEY") for name in missing):
            raise WrongUsage(
                f"{model} needs the key in the environment variable {' or '.join(missing)}; it is not set; set it, "
                "then run the same command again"
            )


def most_completion(model: str) -> int | None:
    """Return the most tokens that a model can say at once; None where litellm does not know."""
    try:
        most = _litellm().get_model_info(model).get("max_output_tokens")
    except Exception:  # its own class, for a model that it does not know
        return None
    return most if isinstance(most, int) and most > 0 else None


async def sample_reply(ask: Ask) -> Reply:
    """Return the model's reply to one request, made once. Raises NoReply, with nothing secret in it."""
    litellm = _litellm()
    try:
        async with asyncio.timeout(ask.timeout):  # the whole reply, also one that trickles
            answer = await litellm.acompletion(**_arguments(ask))
    except TimeoutError:
        raise NoReply(f"Timeout: no whole reply in {ask.timeout:g} s", answered=False) from None
    except Exception as e:  # whatever a provider's code may raise
        raise _no_reply(e, ask) from None
    return _reply(answer)


def _arguments(ask: Ask) -> dict[str, Any]:
    found: dict[str, Any] = {
        "model": ask.model,
        "messages": [{"role": "user", "content": ask.prompt}],
        "temperature": ask.temperature,
        "max_tokens": ask.max_tokens,
        "timeout": ask.timeout,
        "max_retries": 0,  # who retries, and when, is decided by the caller
        "num_retries": 0,
    }
    if ask.api_base is not None:
        found["api_base"] = ask.api_base
        if ask.model.startswith("openai/") and not os.environ.get("OPENAI_API_KEY"):
            found["api_key"] = _NO_KEY
    if ask.model in SIMULATED:
        found["metadata"] = {_SIMULATED: ask}
    return found


def _no_reply(error: Exception, ask: Ask) -> NoReply:
    secrets = known_secrets(os.environ)
    status = getattr(error, "status_code", None)
    headers = getattr(error, "litellm_response_headers", None) or {}
    kind = type(error).__name__
    # litellm puts the class and the provider before the message, sometimes twice.
    message = short_reason(str(error).rpartition(f"{kind}: ")[2].rpartition("Exception - ")[2], secrets)
    provider = _provider(ask)
    closed = no_connection(error)
    if closed is not None and not headers:
        address, source = address_of(provider, ask.api_base, os.environ)
        return NoReply(unreachable(closed, address, source), answered=True, is_unreachable=True)
    # Without headers, litellm made a 500 of a lost connection or of a body it could not read.
    answered = bool(headers) or (isinstance(status, int) and 400 <= status < 500 and status != 408)
    status = status if isinstance(status, int) and answered else None
    advice = refused(status, message, ask.model, provider, ask.api_base) if status is not None else None
    return NoReply(
        advice or f"{kind}{f' {status}' if answered else ''}: {message}",
        status=status,
        retry_after=seconds_asked_to_wait(headers),
        answered=answered,
        is_lasting=advice is not None,
    )


def _provider(ask: Ask) -> str:
    try:
        return str(_litellm().get_llm_provider(ask.model, api_base=ask.api_base)[1])
    except Exception:  # litellm's own class
        return ask.model.partition("/")[0]


def seconds_asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a reply asks to wait: a number, milliseconds, or a date."""
    lower = {str(name).lower(): str(value) for name, value in headers.items()}
    try:
        if "retry-after-ms" in lower:
            seconds = float(lower["retry-after-ms"]) / 1000
        elif lower.get("retry-after", "").strip()[:1].isdigit():
            seconds = float(lower["retry-after"])
        elif "retry-after" in lower and "date" in lower:  # by the provider's own clock
            until, now = (email.utils.parsedate_to_datetime(lower[name]) for name in ("retry-after", "date"))
            seconds = (until - now).total_seconds()
        else:
            return None
    except (ValueError, TypeError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _reply(answer: Any) -> Reply:
    secrets = known_secrets(os.environ)
    choice = next(iter(getattr(answer, "choices", None) or []), None)
    if choice is None:
        raise NoReply("NoChoices: the reply holds no choice", answered=False)
    text = getattr(choice.message, "content", None) or ""
    prompt_tokens, completion_tokens = _counted(getattr(answer, "usage", None), bool(text))

    def plain(value: object) -> str | None:
        return without_secrets(str(value), secrets) if value is not None else None

    return Reply(
        text=without_secrets(str(text), secrets),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        finish_reason=plain(getattr(choice, "finish_reason", None)),
        reply_id=plain(getattr(answer, "id", None)),
        served_model=plain(getattr(answer, "model", None)),
    )


def _counted(usage: Any, has_text: bool) -> tuple[int | None, int | None]:
    """Return the tokens of prompt and completion. litellm puts zeros where a provider says nothing: unknown."""
    prompt, completion = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    is_known = (
        isinstance(prompt, int) and isinstance(completion, int) and prompt > 0 and (completion > 0 or not has_text)
    )
    return (prompt, completion) if is_known else (None, None)


async def close_connections() -> None:
    """Close what is open to providers. To be called before the event loop ends: connections belong to it."""
    litellm = _litellm()
    await litellm.close_litellm_async_clients()
    litellm.in_memory_llm_clients_cache.flush_cache()


_imported: list[ModuleType] = []


def _litellm() -> ModuleType:
    """Return litellm, imported now if it was not: it takes seconds. It is kept from calling home and from talking."""
    if not _imported:
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        os.environ["LITELLM_MODE"] = "PRODUCTION"  # else it reads keys from any .env file it finds
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import litellm
        warnings.filterwarnings("ignore", message=".*`ReadOnly` qualifier.*")  # it goes on importing later
        litellm.telemetry = False
        litellm.suppress_debug_info = True
        litellm.disable_hf_tokenizer_download = True
        for name in _QUIET:
            logging.getLogger(name).setLevel(_SILENCE)
        _add_simulated(litellm)
        _imported.append(litellm)
    return _imported[0]


def _add_simulated(litellm: Any) -> None:
    """Make the simulated coders a provider of litellm: the same path for all."""

    class Simulated(litellm.CustomLLM):  # type: ignore[misc]
        async def acompletion(self, *_: Any, model_response: Any, litellm_params: Any = None, **__: Any) -> Any:
            ask: Ask = litellm_params["metadata"][_SIMULATED]
            code = _simulated(ask)[ask.sample_index].code
            model_response.choices[0].message.content = f"```{language_of(ask.task).name}\n{code.rstrip()}\n```\n"
            model_response.choices[0].finish_reason = "stop"
            return model_response

    litellm.custom_provider_map = [
        *(entry for entry in litellm.custom_provider_map if entry["provider"] != _SIMULATED),
        {"provider": _SIMULATED, "custom_handler": Simulated()},
    ]
    litellm.utils.custom_llm_setup()


_simulated_before: dict[tuple[str, str, str, float, int, int], list[Candidate]] = {}


def _simulated(ask: Ask) -> list[Candidate]:
    """Return all m samples of a coder for a task, made at the first request: what it believes takes longest."""
    key = (ask.model, ask.task.benchmark, ask.task.task_id, ask.temperature, ask.m, ask.seed)
    if key not in _simulated_before:
        _simulated_before[key] = sample_simulated(
            ask.task, ask.model, temperature=ask.temperature, m=ask.m, seed=ask.seed
        )
    return _simulated_before[key]
