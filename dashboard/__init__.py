"""The Streamlit app: `difftrust dashboard`."""
