"""One request to any model litellm knows, those of plugins included: a reply, or why there is none, without secrets."""

import asyncio
import email.utils
import logging
import math
import os
import re
import socket
import urllib.request
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol
from urllib.parse import SplitResult, urlsplit

from difftrust_core.base.plugins import CODERS, load_plugin, require
from difftrust_core.base.records import Candidate
from difftrust_core.base.task import Task, name_flaw
from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.prices import is_offline
from difftrust_core.languages.registry import language_of

HIDDEN = "[hidden]"
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH(?!OR)", re.IGNORECASE)
_SHORTEST = 12
"""Shorter values (``KEY_REPEAT=on``) are no keys, and hiding them would spoil programs."""
_WINDOW = 6
"""As few characters of a secret in a row as are hidden in an error: providers echo the beginning or end of a key."""
_LOOKS_SECRET = re.compile(r"(?i)\bbearer\s+\S+|\bsk-[\w\-*.]{4,}|(?<=[?&])[\w\-]*key=[^\s&]+|\b[A-Za-z0-9_\-]{40,}\b")
_LONGEST = 160
_READ = 4000
"""Characters of a message that are looked at; a whole web page may come."""


def known_secrets(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of the environment that look like keys by their variable's name, the longest first."""
    values = {v.strip() for name, v in environment.items() if _SECRET_NAME.search(name)}
    return tuple(sorted((v for v in values if len(v) >= _SHORTEST), key=lambda v: (-len(v), v)))


def without_secrets(text: str, secrets: Sequence[str]) -> str:
    """Return ``text`` with every whole secret replaced; everything else stays to the letter."""
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


def short_reason(message: str, secrets: Sequence[str]) -> str:
    """Return an error's message in one short line without keys, pieces of keys, or what looks like one."""
    text = _LOOKS_SECRET.sub(HIDDEN, without_secrets(message[:_READ], secrets))
    for secret in secrets:
        text = _without_pieces(text, secret)
    text = " ".join(text.split())
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _without_pieces(text: str, secret: str) -> str:
    pieces = {secret[i : i + _WINDOW] for i in range(len(secret) - _WINDOW + 1)}
    shown = [True] * len(text)
    for i in range(len(text) - _WINDOW + 1):
        if text[i : i + _WINDOW] in pieces:
            shown[i : i + _WINDOW] = [False] * _WINDOW
    return "".join(c if seen else "*" for c, seen in zip(text, shown, strict=True))


_VARIABLES = {
    "azure_ai": "AZURE_AI_API_KEY",
    "bedrock": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "cohere_chat": "COHERE_API_KEY",
    "fireworks_ai": "FIREWORKS_AI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "huggingface": "HF_TOKEN",
    "perplexity": "PERPLEXITYAI_API_KEY",
    "replicate": "REPLICATE_API_KEY",
    "text-completion-openai": "OPENAI_API_KEY",
    "together_ai": "TOGETHERAI_API_KEY",
    "vertex_ai": "GOOGLE_APPLICATION_CREDENTIALS",
}
"""Where litellm reads the key of a provider, if it is not PROVIDER_API_KEY."""
_ADDRESSES = {"openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE")}
_CONNECT = 3.0
"""Seconds within which a server must take a connection."""
_AGAIN = "then run the same command again"


def key_variable(provider: str) -> str:
    """Return the environment variable that holds a provider's key."""
    return _VARIABLES.get(provider, f"{provider.replace('-', '_').upper()}_API_KEY")


def address_of(provider: str, api_base: str | None, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the address of a provider's server and the option or variable it comes from; empty where none is set."""
    if api_base is not None:
        return api_base, "--api-base"
    for name in _ADDRESSES.get(provider, (f"{provider.upper()}_API_BASE",)):
        if environment.get(name):
            return environment[name], name
    return "", ""


def check_address(address: str, source: str) -> None:
    """Refuse an address that is none, or at which nobody answers. Raises WrongUsage."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises where it is no number
    except ValueError:
        raise WrongUsage(f"expected an address such as http://127.0.0.1:8000/v1 in {source}; correct it") from None
    if "@" in address or "?" in address:
        raise WrongUsage(
            f"{source} is a plain http(s) address, without keys in it: keys come from the environment; take them out"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        shown = short_reason(address, known_secrets(os.environ))
        plain = shown.partition("://")[2] or shown.lstrip("/:")
        raise WrongUsage(
            f"expected an address that begins with http:// in {source}, got {shown!r}; write http://{plain}"
        )
    if not _has_proxy(parts):
        _check_connection(parts, address, source)


def _has_proxy(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    return parts.scheme in urllib.request.getproxies() and not urllib.request.proxy_bypass(host)


def _check_connection(parts: SplitResult, address: str, source: str) -> None:
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_CONNECT).close()
    except (ConnectionRefusedError, socket.gaierror) as e:
        raise WrongUsage(unreachable(e, address, source)) from None
    except OSError:
        pass  # slow or odd: the first request will tell


def unreachable(error: BaseException, address: str, source: str) -> str:
    """Return what is to be said where no connection comes about."""
    why = "the connection was refused" if isinstance(error, ConnectionRefusedError) else "it cannot be reached"
    if isinstance(error, socket.gaierror):
        why = "its name is not known"
    if not source:
        return f"expected the provider's server to answer, {why}; start it or check the network, {_AGAIN}"
    shown = short_reason(address, known_secrets(os.environ))
    return f"expected a server at {shown}, {why}; start it or correct {source}, {_AGAIN}"


def no_connection(error: BaseException) -> BaseException | None:
    """Return the error of the system that kept a connection from coming about; None if it did or timed out."""
    for cause in _causes(error):
        if isinstance(cause, ConnectionRefusedError | socket.gaierror):
            return cause
    return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(20):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def refused(status: int, message: str, model: str, provider: str, api_base: str | None) -> str | None:
    """Return what is to be said of an answer that every further request would get too; None for another answer.

    ``message``: what the server says, without keys.
    """
    variable = key_variable(provider)
    says_key = any(words in message.lower() for words in ("api key not valid", "api_key_invalid", "invalid api key"))
    if status == 401 or (status in (400, 403) and says_key):
        there = all(os.environ.get(name) for name in variable.split(" and "))
        found = f"the server answered {status}" if there else f"it is not set and the server answered {status}"
        return f"expected {variable} to hold a valid key, {found}; set it, {_AGAIN}"
    if status == 403:
        return f"expected a key in {variable} that may use {model}, the server answered 403: {message}"
    if status == 402 or (status == 429 and "insufficient_quota" in message):
        return f"expected credit on the account of {variable}, the server answered {status}: {message}"
    if status == 404:
        _, source = address_of(provider, api_base, os.environ)
        mend = f"--model, or the path in {source} (most end with /v1)" if source else "--model"
        return f"expected a model that the server knows, it answered 404 to {model}: {message}; correct {mend}"
    return None


_QUIET = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore")
_SILENCE = 100
"""A logging level above all that is said: what libraries log of a request may hold its headers."""
_NO_KEY = "none"
"""What a server that needs no key is sent, as the protocol asks for one."""


class Coders(Protocol):
    """Models that answer without a network, as a plugin brings them."""

    def check(self, task: Task, model: str) -> None:
        """Refuse a task or a model that cannot be sampled. Raises WrongUsage."""
        ...

    def sample(self, task: Task, model: str, *, temperature: float, m: int, seed: int) -> list[Candidate]:
        """Return m programs for a task, the same for the same arguments."""
        ...


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One request for one program. ``task``, ``sample_index``, ``m`` and ``seed`` are for offline coders."""

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


@dataclass(eq=False)
class NoReply(Exception):
    """A request that brought no reply."""

    reason: str
    _: KW_ONLY
    answered: bool
    """The provider said no; otherwise a reply may have been made, and charged, that was not read."""
    status: int | None = None
    """The HTTP status, None where there was none."""
    retry_after: float | None = None
    """Seconds the provider asks to wait."""
    is_lasting: bool = False
    """Asking again can help neither this request nor any other to the same model: the key, the name."""
    is_unreachable: bool = False
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
    if flaw := name_flaw(model):
        raise WrongUsage(f"{flaw}; correct --model")
    if is_offline(model):
        for task in tasks:
            _coders(model).check(task, model)
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
    if is_offline(ask.model):
        return _offline_reply(ask)
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
    for litellm in _imported:
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()


_imported: list[Any] = []


def _litellm() -> Any:
    """Return litellm, imported now if it was not: it takes seconds. It is kept from calling home and from talking."""
    if not _imported:
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        os.environ["LITELLM_MODE"] = "PRODUCTION"  # else it reads keys from any .env file it finds
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            litellm: Any = require("litellm", extra="llm", purpose="asking models")
        warnings.filterwarnings("ignore", message=".*`ReadOnly` qualifier.*")  # it goes on importing later
        litellm.telemetry = False
        litellm.suppress_debug_info = True
        litellm.disable_hf_tokenizer_download = True
        for name in _QUIET:
            logging.getLogger(name).setLevel(_SILENCE)
        _imported.append(litellm)
    return _imported[0]


def _offline_reply(ask: Ask) -> Reply:
    code = _sampled_offline(ask)[ask.sample_index].code.rstrip()
    return Reply(
        text=f"```{language_of(ask.task).name}\n{code}\n```\n",
        prompt_tokens=None,
        completion_tokens=None,
        finish_reason="stop",
        reply_id=None,
        served_model=ask.model,
    )


_sampled_before: dict[tuple[str, str, str, float, int, int], list[Candidate]] = {}


def _sampled_offline(ask: Ask) -> list[Candidate]:
    """Return all m samples of a coder for a task, made at the first request: what it believes takes longest."""
    key = (ask.model, ask.task.benchmark, ask.task.task_id, ask.temperature, ask.m, ask.seed)
    if key not in _sampled_before:
        coders = _coders(ask.model)
        _sampled_before[key] = coders.sample(ask.task, ask.model, temperature=ask.temperature, m=ask.m, seed=ask.seed)
    return _sampled_before[key]


def _coders(model: str) -> Coders:
    coders: Coders = load_plugin(CODERS, model.partition("/")[0], purpose=f"the model {model}")
    return coders
