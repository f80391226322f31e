"""One store as one HTML file that opens without a network: numbers, chart, table, and the tasks worth reading."""

from difftrust_core.report.page.build import Page, make_page, report_html

__all__ = ["Page", "make_page", "report_html"]
