"""Uploads the files of a folder with the workers of a Dask cluster.

    python3 upload.py tcp://scheduler:8786 docs --cc-pair-id 2 > documents.ndjson

Prints one line of JSON for each document. Exits with 10 if documents failed.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import dask.bag
from distributed import Client

FILES_PER_BATCH = 100
SUFFIXES = {".md", ".mdx", ".rst", ".adoc", ".html", ".txt", ".pdf", ".docx"}


def upload(paths, flags):
    """Sends one batch from a worker; returns the results of its documents."""
    paths = list(paths)
    with tempfile.TemporaryFile("w+") as errors:
        convert = subprocess.Popen(
            ["knowctl", "convert", "--quiet", "--", *paths], stdout=subprocess.PIPE, stderr=errors
        )
        ingest = subprocess.run(
            ["knowctl", "ingest", "-", "--quiet", "--allow-empty", "--output", "ndjson", *flags],
            stdin=convert.stdout,
            capture_output=True,
            text=True,
        )
        convert.stdout.close()
        convert.wait()
        errors.seek(0)
        unread = errors.read()
    # 10: some files or documents failed, the others are sent. Any other code fails the batch.
    for code, problem in [(convert.returncode, unread), (ingest.returncode, ingest.stderr)]:
        if code not in (0, 10):
            raise RuntimeError(f"exit {code} for a batch from {paths[0]}: {problem}")
    results = [json.loads(line) for line in ingest.stdout.splitlines()]
    documents = [each for each in results if each["type"] == "document"]
    if convert.returncode == 10:
        documents.append({"type": "document", "status": "failed", "reason": unread})
    return documents


def main(scheduler, folder, *flags):
    paths = sorted(str(path) for path in Path(folder).rglob("*") if path.suffix in SUFFIXES)
    if not paths:
        sys.exit(f"{folder}: no documents")
    with Client(scheduler):
        batches = dask.bag.from_sequence(paths, partition_size=FILES_PER_BATCH)
        # Dask gives the batch of a lost worker to another one, and repeats a batch that raises.
        results = batches.map_partitions(upload, flags).compute(retries=2)
    for each in results:
        print(json.dumps(each))
    failed = sum(each["status"] == "failed" for each in results)
    print(f"{len(results)} documents, {failed} failed", file=sys.stderr)
    sys.exit(10 if failed else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
