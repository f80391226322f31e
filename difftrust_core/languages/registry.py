"""The language of a task by its name: Python is built in, the others are plugins."""

from difftrust_core.base.plugins import LANGUAGES, load_plugin, plugin_names
from difftrust_core.base.task import Task
from difftrust_core.exceptions import WrongUsage
from difftrust_core.languages.language import Language

_loaded: dict[str, Language] = {}


def language_names() -> list[str]:
    """Return the names of all languages known here."""
    return sorted({"python", *plugin_names(LANGUAGES), *_loaded})


def register_language(language: Language) -> None:
    """Make a language known in this process only; an entry point makes it known in every one."""
    _loaded[language.name] = language


def load_language(name: str) -> Language:
    """Return the language ``name``. Raises WrongUsage for another name, MissingPackage if it needs one."""
    if name not in _loaded:
        if name == "python":
            from difftrust_core.languages.python.adapter import LANGUAGE

            register_language(LANGUAGE)
        elif name in plugin_names(LANGUAGES):
            register_language(load_plugin(LANGUAGES, name, purpose=f"a task in {name}"))
        else:
            raise WrongUsage(f"expected a language of {', '.join(language_names())}, got {name!r}")
    return _loaded[name]


def language_of(task: Task) -> Language:
    """Return the language of a task's programs."""
    return load_language(task.language)
