import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { load } from "js-yaml";
import type { CronJob, Job } from "kubernetes-types/batch/v1.js";
import type { Container, PodTemplateSpec } from "kubernetes-types/core/v1.js";
import { projectFolder, temporaryFolder } from "../support.ts";
import { examplesFolder, start, type Place, type Process } from "./place.ts";

/** A manifest of the examples. */
export function readManifest<Kind extends Job | CronJob>(
  name: string,
  folder = "engines/kubernetes",
): Kind {
  return load(readFileSync(join(examplesFolder, folder, name), "utf8")) as Kind;
}

/**
 * What the types of the Kubernetes API, made of its OpenAPI document, refuse in manifests: unknown or
 * missing members, and values of another type; empty when nothing is refused.
 */
export function checkManifests(
  manifests: readonly { kind?: string | undefined; value: unknown }[],
): string {
  const folder = temporaryFolder();
  const lines = manifests.map(
    ({ kind, value }, at) =>
      `export const m${at}: ${kind} = ${JSON.stringify(value, undefined, 1)};`,
  );
  const types = join(projectFolder, "node_modules", "kubernetes-types", "batch", "v1.d.ts");
  const imports = `import type { CronJob, Job } from ${JSON.stringify(types)};`;
  writeFileSync(join(folder, "manifests.ts"), [imports, ...lines].join("\n"));
  const compiler = createRequire(import.meta.url).resolve("typescript/package.json");
  const flags = ["--noEmit", "--strict", "--allowImportingTsExtensions", "--pretty", "false"];
  // Without the types of browsers and a check of the API's own: a fifth of the time.
  flags.push("--lib", "es2023", "--skipLibCheck");
  const { stdout } = spawnSync(
    process.execPath,
    [join(dirname(compiler), "bin", "tsc"), ...flags, join(folder, "manifests.ts")],
    { cwd: folder, encoding: "utf8" },
  );
  return stdout;
}

/** What a cluster has beside the manifest. */
export interface Cluster {
  place: Place;
  /** Secrets by name. */
  secrets: Record<string, Record<string, string>>;
  /** Folders of the claims of volumes, by name. */
  claims: Record<string, string>;
}

/** A member of the pod that the manifest names: here the label with the Job's name. */
function fieldOf(path: string, job: string): string {
  if (path === "metadata.labels['batch.kubernetes.io/job-name']") return job;
  throw new Error(`no field ${path}`);
}

/** Environment of a container: what the manifest and the Job's index give, and what the image has. */
function environmentOf(container: Container, { place, secrets }: Cluster, job: string) {
  const secretOf = (name: string): Record<string, string> => {
    if (!secrets[name]) throw new Error(`no secret ${name}`);
    return secrets[name];
  };
  const whole = (container.envFrom ?? []).map(({ secretRef }) => secretOf(secretRef!.name!));
  const single = (container.env ?? []).map(({ name, value, valueFrom }) => [
    name,
    value ?? fieldOf(valueFrom!.fieldRef!.fieldPath, job),
  ]);
  // As the image has them: a configuration, and no home that the user could write to.
  const { PATH, XDG_CONFIG_HOME } = place.env as Record<"PATH" | "XDG_CONFIG_HOME", string>;
  const image = { PATH, XDG_CONFIG_HOME, HOME: "/nonexistent" };
  return { ...image, ...Object.assign({}, ...whole), ...Object.fromEntries(single) } as Record<
    string,
    string
  >;
}

/** `$(NAME)` in a command is the variable; anything else in such brackets stays. */
function expand(text: string, env: Record<string, string>): string {
  return text.replace(/\$\(([^)]*)\)/g, (whole, name: string) => env[name] ?? whole);
}

/** Starts the container of a pod; its volumes are folders, which its command and variables name. */
function startPod(
  { spec }: PodTemplateSpec,
  job: string,
  cluster: Cluster,
  index?: number,
): Process {
  const [container] = spec!.containers as [Container];
  const pod = temporaryFolder();
  const folders = Object.fromEntries(
    container.volumeMounts!.map(({ name, mountPath }) => {
      const volume = spec!.volumes!.find((each) => each.name === name)!;
      const claim = volume.persistentVolumeClaim?.claimName;
      const folder = claim === undefined ? join(pod, name) : cluster.claims[claim]!;
      mkdirSync(folder, { recursive: true });
      return [mountPath, folder];
    }),
  );
  const mounted = new RegExp(
    `(?<=^|[\\s"=])(?:${Object.keys(folders).join("|")})(?=$|[/\\s"])`,
    "g",
  );
  const placed = (text: string): string => text.replace(mounted, (path) => folders[path]!);
  const env = environmentOf(container, cluster, job);
  if (index !== undefined) env["JOB_COMPLETION_INDEX"] = String(index);
  const words = [...container.command!, ...(container.args ?? [])].map((word) =>
    placed(expand(word, env)),
  );
  return start(words[0]!, words.slice(1), {
    ...cluster.place,
    folder: pod,
    env: { ...env, TMPDIR: placed("/tmp") },
  });
}

type Ending = "retry" | "fail-index" | "fail-job";

/** What the Job controller does about an exit code. */
function judge({ spec }: Job, code: number | null): Ending {
  for (const { action, onExitCodes } of spec!.podFailurePolicy!.rules) {
    if (code === null || !onExitCodes?.values.includes(code)) continue;
    return action === "FailIndex" ? "fail-index" : "fail-job";
  }
  return "retry";
}

/**
 * Runs a Job as its controller does: as many pods as the manifest says, and a new one for each that
 * fails, within the limit and the policy. Resolves with the exit codes of all pods in the order of
 * their ends, null for a killed one. `onStart` is called with each pod, to disturb it.
 */
export async function runJob(
  job: Job,
  cluster: Cluster,
  onStart: (pod: Process, number: number) => void = () => {},
): Promise<(number | null)[]> {
  const {
    parallelism = 1,
    completions,
    backoffLimit = 6,
    backoffLimitPerIndex,
    template,
  } = job.spec!;
  const isIndexed = job.spec!.completionMode === "Indexed";
  const codes: (number | null)[] = [];
  let [started, failures, hasFailed] = [0, 0, false];
  const runIndex = async (index: number): Promise<void> => {
    for (let tries = 0; !hasFailed; tries += 1) {
      const pod = startPod(template, job.metadata!.name!, cluster, isIndexed ? index : undefined);
      onStart(pod, (started += 1));
      const { code } = await pod.ended;
      codes.push(code);
      if (code === 0) return;
      failures += 1;
      const ending = judge(job, code);
      hasFailed = ending === "fail-job" || (!isIndexed && failures > backoffLimit);
      if (ending === "fail-index" || (isIndexed && tries >= backoffLimitPerIndex!)) return;
    }
  };
  const count = completions ?? parallelism;
  await Promise.all(Array.from({ length: count }, (_, index) => runIndex(index)));
  return codes;
}
