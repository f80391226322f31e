"""One store as one HTML file that opens without a network: numbers, chart, table, and the tasks worth reading."""

from difftrust import figures as figures  # says what installs what it needs
from difftrust.page.build import Page, make_page

__all__ = ["Page", "make_page"]
