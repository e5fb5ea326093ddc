import { arch, platform, release } from "node:os";
import { restrictContent } from "../../../config/trust.ts";
import { plainText, type Text } from "../../../output/terminal/text.ts";
import { tool } from "../../../output/report/tool.ts";
import { hideStoredKeys } from "../../config/files.ts";
import { valueRows, type ValueRow } from "../../config/show.ts";
import { createProber } from "../../../api/retry/prober.ts";
import { loadSettings, openClient } from "../../connect.ts";
import {
  failure,
  need,
  ok,
  warning,
  type Check,
  type Examination,
  type Verdict,
} from "../check.ts";
import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createMachine, stateFolder } from "../../../config/find/folders.ts";
import { stateRules } from "../../files-in-state.ts";
import { stateName } from "../../../config/find/places.ts";
import { codeOf, writeProblem } from "../../../errors.ts";
import { countOf } from "../../../output/terminal/progress.ts";
import { countFailures, type FailureCount } from "../../../sync/state/look-ups.ts";
import { hasState } from "../../../sync/state/file/state-file.ts";
import { findProjectRoot } from "../../project-root.ts";

/** Why no file can be created in `folder`, or undefined. Missing parents would be created. */
function whyNotWritable(folder: string): string | undefined {
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  try {
    accessSync(at, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${at}: ${writeProblem(codeOf(error))}`;
  }
}

const minFreeBytes = 64 * 1024 * 1024;

/** Free space below which an upload may fail, in MiB; undefined for enough, or if it is not known. */
function scarceMebibytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < minFreeBytes ? Math.floor((bavail * bsize) / 2 ** 20) : undefined;
  } catch {
    return undefined;
  }
}

function describeFailure({ httpStatus, count, last, retryable }: FailureCount): string {
  const kind = httpStatus === null ? "without a response of the service" : `with ${httpStatus}`;
  return `${countOf(count, "document")} failed ${kind} (${retryable ? "may succeed later" : "need a fix"}), last ${last}`;
}

/** Checks that uploads, trust and sessions can be recorded. */
async function examineState({ context, options, facts }: Examination): Promise<Verdict> {
  const own = stateFolder(createMachine(context));
  const { folder: root } = findProjectRoot(context, [], options);
  const project = join(root, stateName);
  const isThere = existsSync(project);
  const problem = whyNotWritable(isThere ? project : root);
  const fixes = (other: string): string[] => [`make the folder writable, or use another: ${other}`];
  if (problem !== undefined) {
    const message = `uploads cannot be recorded in ${project} (${problem})`;
    const fix = fixes("knowctl ingest --state DIR");
    // Without a state there were no uploads yet, and perhaps none are planned.
    return isThere ? failure("local", message, fix) : warning(message, fix);
  }
  const ownProblem = whyNotWritable(own);
  if (ownProblem !== undefined) {
    const message = `trust, sessions and history cannot be remembered in ${own} (${ownProblem})`;
    return warning(message, fixes("XDG_STATE_HOME=DIR"));
  }
  const free = scarceMebibytes(root);
  if (free !== undefined) {
    const message = `only ${free} MiB are free in ${root}, where uploads are recorded`;
    return warning(message, ["free some space: an upload fails on a full disk"]);
  }
  facts.failures = hasState(project, stateRules(context)) ? await countFailures(project) : [];
  return ok(`${project} and ${own} are writable`, facts.failures.map(describeFailure));
}

/** The system in short: `linux 6.1.0 x64`. */
export function describeSystem(): string {
  return `${platform()} ${release()} ${arch()}`;
}

function examineTool({ context: { nodeVersion } }: Examination): Verdict {
  const message = `${tool.name} ${tool.version} on Node ${nodeVersion}, ${describeSystem()}`;
  // Releases of Node 20 ended in April 2026.
  const old = ["Node 20 gets no more security fixes; Node 22, 24 and 26 do"];
  return ok(message, nodeVersion.startsWith("20.") ? old : []);
}

function describeValue({ key, value, where, overrides }: ValueRow): string {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const over =
    overrides.length === 0 ? "" : `, over ${overrides.map((each) => each.where).join(", ")}`;
  return `${key} = ${text} (${where}${over})`;
}

// Settings of chat and ingest are many and do not affect the connection: only the bundle has them.
const isShort = ({ key }: ValueRow): boolean => !/^(?:chat|ingest)\b/.test(key);

async function examineConfiguration(examination: Examination): Promise<Verdict> {
  const { context, options, output, facts } = examination;
  const warn = async (...parts: Text[]): Promise<void> => {
    facts.warnings.push(plainText(parts));
  };
  // No prompts: an untrusted file is a finding.
  const flags = { ...options, input: false };
  const config = await loadSettings(context, flags, { ...output, warn }, { sends: true });
  facts.config = config;
  hideStoredKeys(config, output);
  const warnings = facts.warnings.splice(0);
  const files = config.files.map(({ path }) => path);
  const where = files.length === 0 ? "no configuration file" : files.join(", ");
  const message = `profile ${config.profile}: ${where}`;
  const details = [...warnings.slice(1), ...valueRows(config).filter(isShort).map(describeValue)];
  const [first] = warnings;
  return first === undefined ? ok(message, details) : warning(first, [], [message, ...details]);
}

function examineTrust(examination: Examination): Verdict {
  const { files, refused } = need(examination, "config");
  const file = files.find(({ layer }) => layer === "project");
  if (!file) return ok("no project file here, so there is nothing to trust");
  if (file.named) return ok(`${file.path} is set explicitly for this run`);
  if (file.trusted) return ok(`${file.path} is trusted`);
  if (refused) throw refused;
  const { dropped } = restrictContent(file.content);
  if (dropped.length === 0) {
    return ok(`${file.path} needs no trust: it sets neither address, key, id nor target`);
  }
  const message = `${file.path} is not trusted: ${dropped.join(", ")} in it is ignored`;
  return warning(message, ["read it, then trust it once: knowctl config trust"]);
}

// A password manager may ask for a fingerprint first (config/values/secrets.ts).
const keyCommandMs = 65_000;

async function examineConnection(examination: Examination): Promise<Verdict> {
  const { context, output, facts, limitMs } = examination;
  const config = need(examination, "config");
  const connected = await openClient(context, output, config);
  await connected.client.close();
  facts.connected = connected;
  facts.prober = createProber(connected.options, limitMs);
  const { baseUrl, accessToken, apiKey, keyOrigins } = connected.connection;
  const url = new URL(baseUrl);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  facts.hop = { what: "service", host: url.hostname, port };
  const place = (name: string): string => config.origins.get(name)?.where ?? "built-in";
  const keys =
    accessToken === apiKey
      ? `one key for everything, from ${keyOrigins.apiKey.name}`
      : `access token from ${keyOrigins.accessToken.name}, API key from ${keyOrigins.apiKey.name}`;
  const message = `${baseUrl} (${place("baseUrl")}), dialect ${config.dialect} (${place("dialect")}); ${keys}`;
  // The rules only warn of missing certificate files and of disabled certificate checks.
  const [first, ...rest] = facts.warnings.splice(0);
  if (first === undefined) return ok(message);
  const fix =
    "set your certificate authority with --ca-file (caFile) instead, and unset the variable";
  return warning(first, first.includes("NODE_") ? [fix] : [], [...rest, message]);
}

/** Checks that need no network. */
export const localChecks: readonly Check[] = [
  { name: "tool", needs: [], run: examineTool },
  { name: "configuration", needs: [], run: examineConfiguration },
  { name: "trust", needs: ["configuration"], run: examineTrust },
  { name: "state", needs: [], run: examineState },
  {
    name: "connection",
    needs: ["configuration", "trust"],
    limitMs: keyCommandMs,
    run: examineConnection,
  },
];
