"""What keeps candidates in on this machine, what is missing, what that leaves open, and what helps."""

import os
import platform
from dataclasses import dataclass, replace

from difftrust_core.exceptions import SandboxFailed
from difftrust_core.sandbox import layers
from difftrust_core.sandbox.host import ALL_LAYERS, MAY_STAY_OPEN, Limits, Sandbox

_WITHOUT = {
    "bubblewrap": "no file system, network and process list of their own: only the kernel's filters stand between "
    "candidates and this machine, and names, sizes and dates of files can be asked for, where links lead, which "
    "process numbers are taken, and the name of this machine",
    "landlock": "no second lock on files: without bubblewrap, candidates can read yours; behind it, the packages that "
    "lie in Python's own folder",
    "seccomp": "every system call can be tried: run as root, candidates can fork until the memory is full and "
    "disturb the programs that run after them; without bubblewrap they can send UDP and connect to local services",
    "fixed addresses": "nothing; programs that order objects by address may differ from one run to the next",
    "cpu clock": "nothing; calls are limited by the time on the wall, so a busy machine can change outcomes",
}
"""What is open where a layer is missing; the last two keep outcomes the same rather than candidates in."""
_INSTALL = "install bubblewrap (apt-get install bubblewrap; dnf install bubblewrap)"
_NAMESPACES = (
    "let bwrap make user namespaces (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0, on "
    "Ubuntu an AppArmor profile for bwrap), or rely on the other layers; in a container see SECURITY.md"
)
_REMEDIES = {
    "landlock": "use a kernel from 5.13 on (best from 6.12) with `landlock` in its list of security modules (lsm=)",
    "seccomp": "use a 64-bit Python on x86_64 or aarch64 and a kernel with seccomp filters",
    "fixed addresses": "install util-linux, and in a container allow the call personality",
    "cpu clock": "use Linux from 5.3 on, and in a container allow the call pidfd_open",
}
_LANDLOCK_GROWTH = ((2, "moving files"), (3, "truncating files"), (4, "TCP"), (6, "signals and abstract sockets"))
"""From which ABI on Landlock covers what."""
REACH = {
    "files": "read your files",
    "writing": "write to your files",
    "TCP": "connect over TCP",
    "UDP": "send UDP",
    "local sockets": "connect to services of this machine by their sockets (Docker, D-Bus, an ssh agent)",
    "processes": "fork, and so use up processes and memory (root is above the limit on processes)",
    "signals": "send signals to the process that started it",
}
"""What each word of the self-test means."""
_NOT_LINUX = "run it in a Linux container or virtual machine: namespaces, Landlock and seccomp are Linux only"


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One layer of isolation as found on this machine."""

    name: str
    active: bool
    detail: str
    """What it covers here, or why it is missing."""
    leaves_open: str = ""
    """What its absence, or its age, leaves open."""
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What ``diagnose`` found. ``still_open``: what a really confined child could really do, words of ``REACH``."""

    machine: str
    python: str
    n_cpus: int
    is_root: bool
    layers: tuple[Layer, ...]
    still_open: tuple[str, ...]
    failure: str
    """Why no confined child could be started at all; empty otherwise."""

    @property
    def is_sound(self) -> bool:
        """Tell whether execution starts without ``--allow-weak-sandbox``."""
        return not self.failure and MAY_STAY_OPEN.issuperset(self.still_open)

    @property
    def verdict(self) -> str:
        """One line: whether execution starts here, and if not, why."""
        if self.failure:
            return f"execution cannot start: {self.failure}"
        if self.is_sound:
            return "execution starts"
        reach = ", ".join(word for word in self.still_open if word not in MAY_STAY_OPEN)
        return f"execution refuses to start unless --allow-weak-sandbox is given: candidates could reach {reach}"


def diagnose(*, wanted: frozenset[str] = ALL_LAYERS) -> Diagnosis:
    """Start a sandbox with the layers ``wanted``, let a confined child try what it can, and end it."""
    sandbox, failure = None, ""
    try:
        with Sandbox(Limits(), allow_weak=True, wanted=wanted) as sandbox:
            pass
    except SandboxFailed as e:
        failure = str(e)
    return Diagnosis(
        machine=f"{platform.system()} {platform.release()} on {platform.machine()}",
        python=platform.python_version(),
        n_cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        is_root=os.geteuid() == 0,
        layers=_found_in(sandbox) if sandbox else _found_without(failure),
        still_open=sandbox.still_open if sandbox else (),
        failure=failure,
    )


def _found_in(sandbox: Sandbox) -> tuple[Layer, ...]:
    nested = "none" if "--disable-userns" in layers.bubblewrap() else "further ones possible"
    abi = sandbox.landlock_abi
    covered = ["files", *(what for since, what in _LANDLOCK_GROWTH if abi >= since)]
    clock = "" if sandbox.has_cpu_clock else "the CPU time of another process cannot be followed here"
    missing = {**sandbox.missing, "fixed addresses": layers.probe_fixed_addresses().why_not, "cpu clock": clock}
    covers = {
        "bubblewrap": f"files, network and processes of their own; {nested} inside",
        "landlock": f"ABI {abi}: {', '.join(covered)}",
        "seccomp": "a short list of system calls and no other",
        "rlimits": "memory, open files, files written, core dumps; no privileges, root's neither",
        "fixed addresses": "the same in every run",
        "cpu clock": "calls are limited by their CPU time",
    }
    found = (_layer(name, what, missing) for name, what in covers.items())
    return tuple(aged(layer, abi) if layer.name == "landlock" else layer for layer in found)


def _found_without(failure: str) -> tuple[Layer, ...]:
    missing = dict.fromkeys(("landlock", "seccomp"), f"unknown: {failure}")
    missing["bubblewrap"] = layers.probe_bubblewrap().why_not
    return tuple(_layer(name, "works by itself", missing) for name in ("bubblewrap", "landlock", "seccomp"))


def _layer(name: str, covers: str, missing: dict[str, str]) -> Layer:
    why_not = missing.get(name, "")
    if not why_not:
        return Layer(name=name, active=True, detail=covers)
    remedy = _REMEDIES[name] if name != "bubblewrap" else _INSTALL if why_not == layers.NO_BWRAP else _NAMESPACES
    if platform.system() != "Linux":
        remedy = _NOT_LINUX
    return Layer(name=name, active=False, detail=why_not, leaves_open=_WITHOUT[name], remedy=remedy)


def aged(layer: Layer, abi: int) -> Layer:
    """Return Landlock's layer with what it does not cover yet, if it is there but old."""
    lacking = [f"{what} (ABI {since})" for since, what in _LANDLOCK_GROWTH if abi < since]
    if not layer.active or not lacking:
        return layer
    return replace(
        layer,
        leaves_open=f"what it does not know yet, for the other layers to shut: {', '.join(lacking)}",
        remedy="a newer kernel (6.12 has all of it)",
    )
