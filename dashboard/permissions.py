"""Whether this app may do more than read: execute candidates, ask an LLM."""

import ipaddress
import os

import streamlit as st

READ_ONLY = (
    "This dashboard is read-only: it executes nothing and asks no model. That is so when it listens beyond this "
    "machine or DIFFTRUST_READONLY=1 is set. Run `difftrust dashboard` on your own machine to do more."
)


def may_execute() -> bool:
    """Tell whether pages may execute candidates, ask an LLM or write the store.

    DIFFTRUST_READONLY decides where it is set (0, no and false: they may). Else they may only where the app listens
    on this machine alone.
    """
    said = os.environ.get("DIFFTRUST_READONLY", "").strip().lower()
    if said:
        return said in ("0", "no", "false")
    address = st.get_option("server.address")  # None: on every interface
    try:
        return address == "localhost" or (address is not None and ipaddress.ip_address(address).is_loopback)
    except ValueError:
        return False
