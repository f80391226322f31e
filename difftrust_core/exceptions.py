"""The errors that users see, named after the situation.

Every message says what was expected, what was found and what to do.
"""


class DifftrustError(Exception):
    """A failure that the user can understand: one clear line, exit status 1."""

    exit_status = 1


class WrongUsage(DifftrustError):
    """An argument or option of a command is wrong; exit status 2."""

    exit_status = 2


class MissingPackage(WrongUsage):
    """An optional package that was asked for is not installed; exit status 2."""


class BadTask(DifftrustError):
    """A task record breaks a rule of ``tasks``."""


class BadBenchmark(DifftrustError):
    """A benchmark file is missing, damaged, or not the one that was pinned."""


class NoBenchmark(DifftrustError):
    """The benchmark is not on this machine."""


class BadSource(DifftrustError):
    """A source of recorded candidates cannot be read at all."""


class NoStore(DifftrustError):
    """The folder holds no store, or not what the command needs."""


class BadStore(DifftrustError):
    """A store's file breaks its schema or an invariant."""


class StoreInUse(DifftrustError):
    """Another process writes to the store."""


class StoreUnreachable(DifftrustError):
    """The URL of a store cannot be reached, read or written."""


class WeakSandbox(DifftrustError):
    """A layer that keeps candidates from the user's files or network is missing."""


class SandboxFailed(DifftrustError):
    """The sandbox could not be started or did not answer."""


class TooFewCandidates(DifftrustError):
    """A measure needs more candidates than it was given."""


class Undefined(DifftrustError):
    """A measure has no value on what it was given."""


class BrokenInvariant(DifftrustError):
    """A result contradicts a theorem that holds on every input: a defect in this package."""


class BadStub(DifftrustError):
    """The function to check, or its file, cannot be checked as it stands; exit status 2."""

    exit_status = 2
