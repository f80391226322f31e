"""Parts of the page of a task, one a file."""
