"""Programs that attack the sandbox, one attack each, and what must come of every one."""
