import { dialects, type DialectName } from "../../../api/dialects.ts";
import { header } from "../../../api/transport/headers.ts";
import type { Probed, Prober } from "../../../api/retry/prober.ts";
import { ServiceVersion } from "../../../api/service-version.ts";
import { shorten } from "../../../api/answers/words.ts";
import {
  failure,
  need,
  ok,
  skipped,
  warning,
  type Check,
  type Examination,
  type Verdict,
} from "../check.ts";

const noChat = "chat does not work: there is no send-chat-message";

/** Features that an `onyx` service lacks before a version (observed-service.md 9). */
const since: readonly [version: string, lacking: string][] = [
  ["2.6.0", "errors inside an answer carry no code"],
  ["2.8.0", noChat],
  ["3.0.0", "metadata has to be text"],
  ["3.1.0", "a question can use only one model"],
  ["3.3.0", "the created and updated dates are swapped"],
  [
    "4.0.0",
    "chat --no-stream does not report a continued session, and documents cannot be searched",
  ],
  [
    "4.2.0",
    "a proxy may cut a long silent answer, and a cut answer in progress cannot be followed",
  ],
  ["4.3.0", "a search does not report the filters that it applied"],
  ["4.4.0", "documents cannot be filtered by creation date"],
  ["4.5.0", "the error of a used-up budget has no renewal date"],
];

function numbersOf(version: string): number[] | undefined {
  const match = /^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?/.exec(version.trim());
  return match?.slice(1).map((part) => Number(part ?? 0));
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((part, index) => part !== (other[index] ?? 0));
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0);
}

/** Missing features of a version, oldest first; undefined if it is not a number ("Development"). */
export function lackingIn(version: string): string[] | undefined {
  const own = numbersOf(version);
  if (!own) return undefined;
  return since.flatMap(([first, lacking]) =>
    isBefore(own, numbersOf(first) ?? []) ? [`${lacking} (from ${first})`] : [],
  );
}

/**
 * A body that every service must refuse before it stores anything: it has no document
 * and no question. It is valid JSON, because invalid JSON may be refused before the key
 * is checked.
 */
export const emptyBody = "{}";

const isRefusal = (status: number | undefined): boolean => status === 401 || status === 403;

/**
 * Version of the service below a prefix; undefined: it has no /version; "refused": the request was
 * refused.
 */
export async function readVersion(
  prober: Prober,
  prefix = prober.prefix,
): Promise<{ text: string } | "refused" | undefined> {
  const path = prefix + (dialects.onyx.paths.version ?? "");
  const { answer } = await prober.ask({ what: "read the version", method: "GET", path });
  if (isRefusal(answer?.status)) return "refused";
  if (answer?.status !== 200) return undefined;
  try {
    const parsed = ServiceVersion.safeParse(JSON.parse(answer.body.toString("utf8")));
    return parsed.success ? { text: shorten(parsed.data.backend_version, 60) } : undefined;
  } catch {
    return undefined;
  }
}

type Presence = "there" | "absent" | "refused" | "unknown";

/** Whether an endpoint exists, from its response to a request that it must refuse. */
export function presenceOf({ answer }: Pick<Probed, "answer">): Presence {
  if (!answer) return "unknown";
  const { status } = answer;
  if (status === 404 || status === 405) return "absent";
  // A gateway also refuses paths that the service does not have.
  if (isRefusal(status)) return "refused";
  const type = header(answer.headers, "content-type") ?? "";
  return /json/i.test(type) && [200, 400, 422].includes(status) ? "there" : "unknown";
}

/**
 * Detects the dialect and its reason; undefined: unknown. A refused request (401, 403)
 * proves nothing: only existing and absent endpoints count.
 */
export function judgeDialect(
  found: { text: string } | "refused" | undefined,
  ingestion: Record<DialectName, Presence>,
): { dialect: DialectName | "mixed" | undefined; because: string } {
  const { standard, onyx } = ingestion;
  if (found === "refused" && standard !== "there" && onyx !== "there") {
    const because = "the service, or a proxy in front of it, refuses /version";
    return { dialect: undefined, because };
  }
  const isPossible = (each: Presence): boolean => each === "there" || each === "refused";
  const version = found === "refused" ? undefined : found?.text;
  const text = version === undefined ? "no /version" : `/version is ${version}`;
  if (isPossible(standard) && onyx === "absent") {
    return version === undefined
      ? { dialect: "standard", because: `${text}, and ingestion at svc-api` }
      : {
          dialect: "mixed",
          because: `${text} as in onyx, but ingestion at svc-api as in standard`,
        };
  }
  if (isPossible(onyx) && standard === "absent") {
    return { dialect: "onyx", because: `${text}, and ingestion at onyx-api` };
  }
  if (version !== undefined) return { dialect: "onyx", because: text };
  // If keys are checked before paths, only /version identifies the dialect.
  const isHidden = isPossible(standard) && isPossible(onyx) && found !== "refused";
  if (isHidden) return { dialect: "standard", because: text };
  const because = `${text}, and ingestion neither at svc-api nor at onyx-api`;
  return { dialect: undefined, because };
}

function howToSet(examination: Examination, dialect: DialectName): string {
  const { config } = need(examination, "connected");
  const origin = config.origins.get("dialect");
  if (origin?.source === "flag") return `use --dialect ${dialect}`;
  if (origin?.source === "env") return `set KNOWCTL_DIALECT=${dialect}`;
  if (origin?.source === "project") return `write "dialect": "${dialect}" at ${origin.where}`;
  return `knowctl config set profiles.${config.profile}.dialect ${dialect} (or --dialect ${dialect})`;
}

async function examineDialect(examination: Examination): Promise<Verdict> {
  const { facts } = examination;
  const prober = need(examination, "prober");
  const { dialect: own } = need(examination, "connected").config;
  const version = await readVersion(prober);
  if (version !== undefined && version !== "refused") facts.serviceVersion = version.text;
  const ask = (name: DialectName): Promise<Probed> =>
    prober.ask({
      what: "look at ingestion, with an empty request",
      method: "POST",
      path: prober.prefix + dialects[name].paths.ingestion,
      key: "apiKey",
      body: emptyBody,
    });
  const ingestion = { standard: await ask("standard"), onyx: await ask("onyx") };
  facts.ingestion = ingestion;
  const { dialect, because } = judgeDialect(version, {
    standard: presenceOf(ingestion.standard),
    onyx: presenceOf(ingestion.onyx),
  });
  facts.dialect = dialect === undefined || dialect === "mixed" ? own : dialect;
  if (dialect === own) return ok(`${own}, as in the profile (${because})`);
  if (dialect === "mixed") {
    return warning(`the service has neither dialect completely: ${because}`, [
      "use the dialect of its ingestion path (--dialect standard), and check that chat filters have an effect",
    ]);
  }
  if (dialect === undefined) {
    return warning(`cannot detect the dialect of the service: ${because}`, [
      `the profile's dialect ${own} is used; ask the service's operator`,
    ]);
  }
  const message = `the service has dialect ${dialect} (${because}), but the profile has ${own}`;
  return failure("not-configured", message, [
    howToSet(examination, dialect),
    "until then uploads fail, and filters of questions are silently ignored; later checks use the detected dialect",
  ]);
}

function examineVersion({ facts: { serviceVersion: version } }: Examination): Verdict {
  if (version === undefined) return skipped("the service does not report its version");
  const lacking = lackingIn(version);
  if (lacking === undefined) {
    return ok(`${version} is not a version number, so its missing features are unknown`);
  }
  if (lacking.length === 0) return ok(`${version} has every feature that this tool uses`);
  const what = lacking.length === 1 ? "something" : `${lacking.length} things`;
  const message = `${version} lacks ${what} that this tool uses`;
  return lacking.some((each) => each.startsWith(noChat))
    ? failure("not-found", message, ["have the service updated"], lacking)
    : warning(message, ["no action is needed; a newer version has them"], lacking);
}

/** Dialect and version of the service. */
export const dialectChecks: readonly Check[] = [
  { name: "dialect", needs: ["answer"], run: examineDialect },
  { name: "version", needs: ["answer"], run: examineVersion },
];
