"""Airflow: one mapped task for each shard. Not run here."""

import pendulum
from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

SHARDS = 4

with DAG(
    "knowledge",
    schedule="30 2 * * *",
    start_date=pendulum.datetime(2026, 1, 1),
    catchup=False,
    # Two runs at once would each send what the other has sent.
    max_active_runs=1,
):
    # Airflow masks the connections of the service and the record in its logs.
    upload = BashOperator.partial(
        task_id="upload",
        retries=2,
        append_env=True,
        env={
            "KNOWCTL_API_KEY": "{{ conn.knowctl.password }}",
            "KNOWCTL_BASE_URL": "{{ conn.knowctl.host }}",
        },
    ).expand(
        bash_command=[
            "exec knowctl ingest /srv/handbook/docs --root /srv/handbook --id-prefix handbook/ --cc-pair-id 2"
            f" --shard {shard}/{SHARDS} --report /srv/reports/shard-{shard}.json"
            for shard in range(1, SHARDS + 1)
        ]
    )
    report = BashOperator(
        task_id="report",
        trigger_rule="all_done",
        bash_command="knowctl report merge /srv/reports/shard-*.json --report /srv/reports/run.html",
    )
    upload >> report
