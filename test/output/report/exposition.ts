// A reader of Prometheus' text format, as strict as the description of the format:
// https://prometheus.io/docs/instrumenting/exposition_formats/
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Family {
  help: string;
  type: string;
  samples: Sample[];
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelPair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/;
const escapes: Readonly<Record<string, string>> = { "\\\\": "\\", "\\n": "\n", '\\"': '"' };

function labelsIn(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== "") {
    const found = labelPair.exec(rest);
    if (!found) throw new Error(`no label: ${rest}`);
    const [all, name = "", value = ""] = found;
    if (Object.hasOwn(labels, name)) throw new Error(`label ${name} twice`);
    labels[name] = value.replaceAll(/\\[\\n"]/g, (escape) => escapes[escape]!);
    rest = rest.slice(all.length);
  }
  return labels;
}

function sampleIn(line: string): Sample {
  const found = /^([^{ ]+)(?:\{(.*)\})? (\S+)$/s.exec(line);
  if (!found) throw new Error(`no sample: ${line}`);
  const [, name = "", labels = "", value = ""] = found;
  if (!metricName.test(name)) throw new Error(`no name of a metric: ${name}`);
  if (value === "" || Number.isNaN(Number(value))) throw new Error(`no number: ${value}`);
  return { name, labels: labelsIn(labels), value: Number(value) };
}

/** The families of a text by name. Throws for what a server of Prometheus would refuse. */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let open: string | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === "HELP") {
      if (families.has(name)) throw new Error(`${name}: a second HELP, or a family in two parts`);
      families.set((open = name), { help: rest, type: "", samples: [] });
      continue;
    }
    const family = families.get(open ?? "");
    if (kind === "TYPE") {
      if (!family || name !== open || family.type !== "") throw new Error(`TYPE of ${name}`);
      if (!["counter", "gauge"].includes(rest)) throw new Error(`type ${rest}`);
      family.type = rest;
      if ((rest === "counter") !== name.endsWith("_total")) throw new Error(`${name}: _total`);
      continue;
    }
    const sample = sampleIn(line);
    if (!family || sample.name !== open) throw new Error(`${sample.name} outside its family`);
    const key = JSON.stringify([
      sample.name,
      ...Object.entries(sample.labels).map(String).toSorted(),
    ]);
    if (seen.has(key)) throw new Error(`a series twice: ${key}`);
    seen.add(key);
    family.samples.push(sample);
  }
  return families;
}
