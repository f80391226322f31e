"""What the documents quote of the shipped results is what the code says today."""

from tests.support.documents import README, TARGET, readme_table, table_4


def test_table_4_is_the_one_of_the_shipped_results() -> None:
    assert table_4() in TARGET.read_text()


def test_the_table_of_the_readme_is_the_one_of_the_shipped_results() -> None:
    assert readme_table() in README.read_text()
