import type { Dialect } from "../../api/dialects.ts";
import { CliError, usageError } from "../../errors.ts";
import type { ChatParameters } from "../../api/chat/chat.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { ChatSettings } from "../../config/values/schema.ts";
import type { ChatFormat } from "../../output/chat/render.ts";
import type { RenderMode } from "../../output/chat/markdown.ts";
import type { Selection } from "../../output/chat/renderer.ts";
import type { Shown } from "../../output/chat/turn/tools.ts";
import type { Output } from "../../output/terminal/output.ts";
import type { StateFlag } from "../files-in-state.ts";

/**
 * The pairs of `--filter-tag KEY=VALUE`. Throws CliError `usage` for any other text, and for two
 * values of one key where the dialect takes one.
 */
export function parseTags(
  flags: readonly string[],
  dialect: Pick<Dialect, "repeatsTagKeys">,
): [string, string][] {
  const tags = flags.map((flag): [string, string] => {
    const equals = flag.indexOf("=");
    if (equals < 1) {
      throw new CliError("usage", `--filter-tag: "${flag}" is not KEY=VALUE`);
    }
    return [flag.slice(0, equals), flag.slice(equals + 1)];
  });
  const keys = new Set(tags.map(([key]) => key));
  if (keys.size < tags.length && !dialect.repeatsTagKeys) {
    throw new CliError("usage", "--filter-tag: one key can have only one value here", {
      hints: ["this service reads the tags as an object; ask once for each value"],
    });
  }
  return tags;
}

const unitMs: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const isoForm =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

// Date.parse reads February 30 as March 2.
function isRealDate(year: string, month: string, day: string): boolean {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function timeOf(text: string, now: number): number {
  const duration = /^(\d{1,6})([mhdw])$/.exec(text);
  if (duration) return now - Number(duration[1]) * (unitMs[duration[2] ?? ""] ?? Number.NaN);
  const [, year = "", month = "", day = "", hour = "00", minute = "00", second = "00", zone = "Z"] =
    isoForm.exec(text) ?? [];
  if (year === "" || !isRealDate(year, month, day)) return Number.NaN;
  const offset = zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, "$1:$2");
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
}

/**
 * A point in time in the service's form (`YYYY-MM-DDTHH:MM:SSZ`). `text` is a
 * date (midnight UTC), an ISO 8601 time (UTC unless it names an offset), or a
 * duration back from `now` in ms (`30m`, `12h`, `7d`, `2w`). Throws CliError
 * `usage`.
 */
export function parseSince(text: string, now: number, given = "--since"): string {
  const time = timeOf(text.trim(), now);
  if (!Number.isFinite(time) || time < 0) {
    throw new CliError("usage", `${given}: "${text}" is neither a date nor a duration`, {
      hints: ["write 2026-01-31, 2026-01-31T08:00:00Z, 30m, 12h, 7d or 2w"],
    });
  }
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

export interface ChatOptions extends GlobalFlags, StateFlag {
  agent?: number;
  project?: number;
  session?: string;
  continue?: boolean;
  parent?: number;
  /** PROVIDER/VERSION */
  model?: string;
  provider?: string;
  modelVersion?: string;
  temperature?: number;
  tool?: number[];
  /** False for `--no-tools`. */
  tools?: boolean;
  forceTool?: number;
  file?: string[];
  fileId?: string[];
  sourceType?: string[];
  documentSet?: string[];
  filterTag?: string[];
  since?: string;
  deepResearch?: boolean;
  /** False for `--no-stream`. */
  stream?: boolean;
  payload?: string;
  live?: boolean;
  /** False for `--no-sources`. */
  sources?: boolean;
  show?: string;
  render?: RenderMode;
  /** False for `--no-remember`. */
  remember?: boolean;
  save?: string;
  record?: string;
  /** Replace the file of `--record`. */
  force?: boolean;
  replay?: string;
  replaySpeed?: number;
  /** NDJSON file of questions, or `-`. */
  batch?: string;
  concurrency?: number;
  /** Results file of an earlier batch. */
  resume?: string;
  /** False for `--no-reask`. */
  reask?: boolean;
  /** Bytes of the longest line of a stream. */
  maxPacket?: number;
}

/** Whether the value is from a flag. A configured default, or the variable of a global flag, without effect is ignored. */
export function isGiven(options: GlobalFlags, name: string): boolean {
  return options.flagSources?.[name] === "flag";
}

/** The selection of `--fields` and `--jq` on the answer's one object; undefined without both. */
export function selectionOf(options: GlobalFlags): Selection | undefined {
  const { fields, jq } = options;
  const selection = {
    ...(isGiven(options, "fields") ? { fields } : {}),
    ...(isGiven(options, "jq") ? { jq } : {}),
  };
  return Object.keys(selection).length > 0 ? selection : undefined;
}

/** Refuses flags that have no effect in the answer's format. Throws CliError `usage`. */
function checkFormatFlags(options: GlobalFlags, format: string): void {
  const output = isGiven(options, "output") ? options.output : undefined;
  const selector = ["fields", "jq"].find((name) => isGiven(options, name));
  if (selector !== undefined && output !== undefined && output !== "json") {
    throw usageError(
      `--${selector} and --output ${output} exclude each other`,
      `--${selector} works on the one object of --output json`,
    );
  }
  if (format === "text") return;
  const { show } = options as ChatOptions;
  const textOnly = ["live", "render", "show", "sources"].find(
    // Machine formats show nothing on stderr anyway.
    (name) => isGiven(options, name) && !(name === "show" && show === "none"),
  );
  if (textOnly !== undefined) {
    const flag = textOnly === "sources" ? "no-sources" : textOnly;
    throw usageError(`--${flag} applies only to text, not to ${format}`, "leave one of them out");
  }
}

/** Refuses flags that have no effect because the payload names a session. Throws CliError `usage`. */
export function checkPayloadSession(options: ChatOptions): void {
  const flag = (["agent", "project", "session", "continue"] as const).find(
    (name) => options[name] !== undefined && isGiven(options, name),
  );
  if (flag === undefined) return;
  throw usageError(
    `--payload names a session, so --${flag} has no effect`,
    `leave out --${flag}, or chat_session_id in the payload`,
  );
}

/** Refuses `--live` where a setting or the payload asks for no stream. Throws CliError `usage`. */
export function checkLive(options: ChatOptions, whole: boolean): void {
  if (!whole || !isGiven(options, "live")) return;
  throw usageError(
    "--live has no effect: the answer is asked for in one piece",
    "leave it out, or ask for a stream (chat.stream, or `stream` in the payload)",
  );
}

/** Refuses flags that contradict each other. Throws CliError `usage`. */
export function checkOptions(options: ChatOptions): void {
  const inSession = options.session !== undefined || options.continue === true;
  if (options.session !== undefined && options.continue === true) {
    throw usageError("--continue and --session exclude each other");
  }
  if (options.session?.trim() === "") throw usageError("--session: the session id is empty");
  for (const name of ["agent", "project"] as const) {
    if (inSession && options[name] !== undefined) {
      throw usageError(
        `--${name} applies only to a new session`,
        `leave out --${name}, or --session and --continue`,
      );
    }
  }
  if (options.tool !== undefined && options.tools === false) {
    throw usageError("--tool and --no-tools exclude each other");
  }
  if (options.model !== undefined && (options.provider ?? options.modelVersion) !== undefined) {
    throw usageError(
      "--model already names provider and version",
      "use --model alone, or the other two",
    );
  }
}

/** The output format; cli/ has already refused those that chat does not have. Throws CliError `usage` for flags without effect in it. */
export function formatOf(options: ChatOptions): ChatFormat {
  const isJson = options.json === true || selectionOf(options) !== undefined;
  const isExplicit = options.output !== undefined && options.flagSources?.["output"] !== "env";
  const name = isJson && !isExplicit ? "json" : (options.output ?? "text");
  checkFormatFlags(options, name);
  return name as ChatFormat;
}

const kinds: readonly Shown[] = ["reasoning", "tools", "documents"];

/** Rows of a terminal on which the steps would push the answer off the screen. */
const fewRows = 24;

/**
 * The steps to show on stderr, from `--show` or the configuration. Default: every kind, and none on
 * a small terminal.
 */
export function shownOf(
  flag: string | undefined,
  setting: ChatSettings["show"],
  output?: Pick<Output, "isTerminal" | "rows">,
): { show: ReadonlySet<Shown>; all: boolean } {
  const isSmall = output?.isTerminal === true && output.rows() <= fewRows;
  const usual = isSmall ? ["none"] : kinds;
  const words: readonly string[] =
    flag?.split(",").map((word) => word.trim()) ?? (setting ? [setting].flat() : usual);
  const show = new Set<Shown>();
  for (const word of words) {
    if (word === "all") for (const kind of kinds) show.add(kind);
    else if (kinds.some((kind) => kind === word)) show.add(word as Shown);
    else if (word !== "none") {
      throw usageError(`--show: unknown word "${word}"`, `use ${kinds.join(", ")}, none or all`);
    } else if (words.length > 1)
      throw usageError("--show: none cannot be combined with other words");
  }
  return { show, all: words.includes("all") };
}

/** Splits `--model` at the first slash: versions may hold slashes. */
export function splitModel(
  model: string,
  given = "--model",
): { modelProvider: string; modelVersion: string } {
  const slash = model.indexOf("/");
  const parts = { modelProvider: model.slice(0, slash), modelVersion: model.slice(slash + 1) };
  if (slash < 0 || parts.modelProvider.trim() === "" || parts.modelVersion.trim() === "") {
    throw usageError(
      `${given}: "${model}" is not PROVIDER/VERSION`,
      "to set only one part, use --provider or --model-version",
    );
  }
  return parts;
}

function modelOf(options: ChatOptions, settings: ChatSettings): Partial<ChatParameters> {
  const parts: Partial<ChatParameters> = {};
  if (options.provider !== undefined) parts.modelProvider = options.provider;
  if (options.modelVersion !== undefined) parts.modelVersion = options.modelVersion;
  if (Object.keys(parts).length > 0) return parts;
  const model = options.model ?? settings.model;
  return model === undefined ? {} : splitModel(model);
}

function tagsOf(flags: readonly string[] | undefined, settings: ChatSettings, dialect: Dialect) {
  if (flags === undefined) return settings.tags ? Object.entries(settings.tags) : undefined;
  return parseTags(flags, dialect);
}

function filtersOf(options: ChatOptions, settings: ChatSettings, dialect: Dialect, now: number) {
  const since = options.since ?? settings.since;
  return {
    sourceTypes: options.sourceType ?? settings.sourceTypes,
    documentSets: options.documentSet ?? settings.documentSets,
    tags: tagsOf(options.filterTag, settings, dialect),
    timeCutoff: since === undefined ? undefined : parseSince(since, now),
  };
}

function withoutUndefined<Value extends object>(
  value: Value,
): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(
    Object.entries(value).filter(([, each]) => each !== undefined),
  ) as never;
}

/**
 * The request's parameters: flags override the configured defaults. The caller adds message,
 * session and files. Throws CliError `usage`.
 */
export function parametersOf(
  options: ChatOptions,
  settings: ChatSettings,
  dialect: Dialect,
  now: number,
): Omit<ChatParameters, "message"> {
  const inSession = options.session !== undefined || options.continue === true;
  return withoutUndefined({
    personaId: inSession ? undefined : (options.agent ?? settings.personaId),
    projectId: inSession ? undefined : (options.project ?? settings.projectId),
    sessionId: options.session,
    parentMessageId: options.parent,
    ...modelOf(options, settings),
    temperature: options.temperature ?? settings.temperature,
    allowedToolIds: options.tools === false ? [] : (options.tool ?? settings.tools),
    forcedToolId: options.forceTool ?? settings.forceTool,
    ...filtersOf(options, settings, dialect, now),
    deepResearch: options.deepResearch ?? settings.deepResearch,
  }) as Omit<ChatParameters, "message">;
}

/** A switch that is on by default: from the flag, else from the setting. */
export function switchOf(
  options: ChatOptions,
  name: "stream" | "sources" | "remember",
  setting: boolean | undefined,
): boolean {
  if (options.flagSources?.[name] !== undefined) return options[name] !== false;
  return setting ?? options[name] !== false;
}
