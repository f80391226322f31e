"""The attacks, a table a group."""

from tests.hostile.attack import Attack
from tests.hostile.attacks import (
    collisions,
    doors,
    files,
    forging,
    kernel,
    lies,
    loading,
    mapping,
    memory,
    network,
    printing,
    processes,
    raising,
    surroundings,
    time,
)

GROUPS: dict[str, list[Attack]] = {
    "time": time.ATTACKS,
    "memory": memory.ATTACKS,
    "processes": processes.ATTACKS,
    "kernel": kernel.ATTACKS,
    "files": files.ATTACKS,
    "network": network.ATTACKS,
    "forging": forging.ATTACKS,
    "lies": lies.ATTACKS,
    "raising": raising.ATTACKS,
    "surroundings": surroundings.ATTACKS,
    "mapping": mapping.ATTACKS,
    "doors": doors.ATTACKS,
    "loading": loading.ATTACKS,
    "collisions": collisions.ATTACKS,
    "printing": printing.ATTACKS,
}
