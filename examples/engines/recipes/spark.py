"""Spark: each partition of a table of pages becomes the stdin of one `knowctl ingest -`. Not run here."""

import subprocess

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("knowledge").getOrCreate()
pages = spark.read.parquet("s3a://warehouse/pages")

documents = pages.select(
    F.col("id"),
    F.col("title").alias("semantic_identifier"),
    F.array(F.struct(F.col("body").alias("text"), F.col("url").alias("link"))).alias("sections"),
    F.lit("file").alias("source"),
    F.create_map(F.lit("team"), F.col("team")).alias("metadata"),
)


def send(rows):
    """Runs on an executor, which needs knowctl and the variables of the service and the record."""
    lines = "\n".join(row.value for row in rows)
    done = subprocess.run(
        ["knowctl", "ingest", "-", "--allow-empty", "--quiet", "--cc-pair-id", "2"],
        input=lines,
        text=True,
        stderr=subprocess.PIPE,
    )
    # 10: some documents failed, which stderr names. Spark repeats a task that raises.
    if done.returncode not in (0, 10):
        raise RuntimeError(done.stderr)
    yield from done.stderr.splitlines()


# As many processes at a time as there are partitions: each sends up to 8 requests at once.
values = documents.select(F.to_json(F.struct("*")).alias("value")).repartition(8, "value")
for line in values.rdd.mapPartitions(send).collect():
    print(line)
