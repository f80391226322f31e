"""A folder of Parquet files: schemas, settings, locks, checksums, verification, remote copies."""
