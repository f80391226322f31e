"""What stands between a command and its model, in one line: the key, the name, the address; and what mends it."""

import os
import socket
import urllib.request
from collections.abc import Iterator, Mapping
from urllib.parse import SplitResult, urlsplit

from difftrust_core.exceptions import WrongUsage
from difftrust_core.generation.secrets import known_secrets, short_reason

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
