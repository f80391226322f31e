"""What the documents quote of the shipped results is what the code says today."""

from tests.support.documents import TARGET, table_4


def test_table_4_is_the_one_of_the_shipped_results() -> None:
    assert table_4() in TARGET.read_text()
