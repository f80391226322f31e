"""Part of the page Ablation: what a store lacks of a setting, what it would take, and its run; and nothing else."""

import streamlit as st


def show_missing(chosen, models) -> None:
    pass
