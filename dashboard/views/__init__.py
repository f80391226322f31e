"""The pages, one file each; each has ``draw()``.

Not ``pages/``: beside the app's script, Streamlit takes a folder of that name for pages of its own mechanism.
"""
