"""The explorer in a notebook: sliders that need no kernel; what is picked comes back as ``selection``."""

import base64
from dataclasses import replace
from typing import Any, Final

import anywidget
import traitlets

from difftrust.explorer.cube import make_cube
from difftrust.explorer.home import inputs_there, script, style, task_details
from difftrust_core.estimates.pool import load_pool, pool_names
from difftrust_core.exceptions import DifftrustError
from difftrust_core.store.store import Store

_LAST: Final = "export default { render: showInNotebook };"


class Explorer(anywidget.AnyWidget):
    """Widget over a store's results; ``selection`` holds the tasks picked, ``state`` all that is chosen, as texts."""

    _esm = script(_LAST)
    style_text = traitlets.Unicode(style()).tag(sync=True)
    benchmarks: Any = traitlets.List(traitlets.Unicode()).tag(sync=True)
    inputs: Any = traitlets.List(traitlets.Dict()).tag(sync=True)
    cube = traitlets.Bytes().tag(sync=True)
    cube_name = traitlets.Unicode().tag(sync=True)
    state: Any = traitlets.Dict().tag(sync=True)
    selection: Any = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, store: Store, benchmark: str, *, equality: str = "paper"):
        self._store, self._equality = store, equality
        own = str(store.settings().validity)
        super().__init__(
            benchmarks=pool_names(store),
            inputs=inputs_there(store),
            cube=make_cube(store, benchmark, equality=equality),
            cube_name=f"{benchmark} {own}",
            state={"benchmark": benchmark, "inputs": own},
        )
        self.on_msg(self._answer)

    def __repr__(self) -> str:
        return f"Explorer({self.state['benchmark']})"

    def _answer(self, _: object, content: dict[str, Any], __: object) -> None:
        """Answer the page: another benchmark's results, or what a task has beside its numbers."""
        try:
            value = self._details(content) if "task" in content else self._cube(content)
        except DifftrustError:  # the page goes without it
            value = None
        self.send({"key": content["key"], "value": value})

    def _read(self, inputs: str) -> Store:
        return self._store.read_as(replace(self._store.reading, inputs=inputs))

    def _cube(self, content: dict[str, Any]) -> str:
        made = make_cube(self._read(content["inputs"]), content["benchmark"], equality=self._equality)
        return base64.b64encode(made).decode()

    def _details(self, content: dict[str, Any]) -> dict[str, Any]:
        asked, store = content["state"], self._read(content["state"]["inputs"])
        pool = load_pool(store, asked["benchmark"], equality=self._equality)
        coder = (asked["model"], float(asked["t"]))
        return task_details(store, pool, content["task"], coder, m=int(asked["m"]), n=int(asked["n"]))
