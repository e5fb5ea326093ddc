import { mapped, type Measures, type Report } from "./report.ts";

type Labels = Readonly<Record<string, string>>;

/**
 * One metric. All are gauges: each tells of the last run. A counter would have to grow over all runs,
 * and a file that is replaced by each run forgets the others.
 */
interface Metric {
  name: string;
  help: string;
  samples: readonly (readonly [labels: Labels, value: number])[];
}

// https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details
const escapeLabel = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return `{${pairs.join(",")}}`;
}

/** Metrics are named for what is counted: documents, findings of lint, cases of eval. */
const subjects: Readonly<Record<string, string>> = { findings: "findings", cases: "cases" };

function resultsOf({ data, counts }: Report): Metric {
  const subject = subjects[data.list] ?? "documents";
  const parts = counts.filter(({ part }) => part !== undefined);
  const named = parts.length > 0 ? parts : counts;
  return {
    name: subject,
    help: `Number of ${subject} of the last run by result.`,
    samples: named.map(({ name, count }) => [{ result: name.replaceAll(" ", "-") }, count]),
  };
}

/** A metric with one sample; without a value none. */
function single(name: string, help: string, value: number | undefined): Metric {
  return { name, help, samples: value === undefined ? [] : [[{}, value]] };
}

function metricsOf(report: Report): Metric[] {
  const measures: Partial<Measures> = report.measures ?? {};
  const { isSuccess, sentBytes, traffic, seconds, endedAtMs, oldestUnsentMs } = measures;
  const statuses = Object.entries(traffic?.statuses ?? {});
  const lastSuccessMs = isSuccess ? endedAtMs : measures.lastSuccessMs;
  const secondsOf = (ms: number | undefined): number | undefined =>
    ms === undefined ? undefined : ms / 1000;
  return [
    resultsOf(report),
    single("sent_bytes", "Bytes of the documents that the last run sent.", sentBytes),
    {
      name: "requests",
      help: "Requests of the last run by HTTP status; none is a request without a response.",
      samples: statuses.map(([status, count]) => [{ status }, count]),
    },
    single("retries", "Requests that the last run sent again.", traffic?.retries),
    single(
      "retry_wait_seconds",
      "Sum of the waits before retries; documents wait at the same time.",
      traffic?.waitedSeconds,
    ),
    single("run_duration_seconds", "Duration of the last run.", seconds),
    single(
      "run_success",
      "1 if the last run succeeded, else 0.",
      isSuccess === undefined ? undefined : Number(isSuccess),
    ),
    single("run_end_timestamp_seconds", "End of the last run.", secondsOf(endedAtMs)),
    single(
      "last_success_timestamp_seconds",
      "End of the last run that succeeded; 0 if none is recorded in the state folder.",
      isSuccess === undefined ? undefined : (secondsOf(lastSuccessMs) ?? 0),
    ),
    single(
      "oldest_unsent_timestamp_seconds",
      "Change of the oldest file whose document is not sent; absent if all are sent.",
      secondsOf(oldestUnsentMs),
    ),
  ];
}

/**
 * Text for the textfile collector of Prometheus' node_exporter. `name` is that of the file without its
 * extension: the label `report` tells apart the files of one folder, which must not have a series in
 * common. No label has a value of a document.
 */
export function prometheusReport(
  report: Report,
  _prefix: string | undefined,
  name: string,
): Iterable<string> {
  const own = { report: name, command: report.command };
  const metrics = metricsOf(report).filter(({ samples }) => samples.length > 0);
  return mapped(metrics, (metric) => {
    const full = `knowctl_${metric.name}`;
    const lines = metric.samples.map(
      ([labels, value]) => `${full}${labelsText({ ...own, ...labels })} ${value}`,
    );
    return [`# HELP ${full} ${metric.help}`, `# TYPE ${full} gauge`, ...lines, ""].join("\n");
  });
}
