import type { ChatOptions } from "./chat-options.ts";
import type { ChatParameters } from "../../../api/chat/chat.ts";
import type { Dialect } from "../../../api/dialects.ts";
import type { ChatSettings } from "../../../config/values/schema.ts";
import { CliError } from "../../../errors.ts";
import { chatRenderers, type ChatFormat } from "../../../output/chat/render.ts";
import type { RenderMode } from "../../../output/chat/markdown.ts";
import type { Shown } from "../../../output/chat/turn/tools.ts";
import { checkFormatFlags, selectionOf } from "./flag-rules.ts";
import { parseTags } from "./tags.ts";
import { parseSince } from "../session/time.ts";

function usage(message: string, hint?: string): CliError {
  return new CliError("usage", message, { hints: hint === undefined ? [] : [hint] });
}

/** Refuses flags that contradict each other. Throws CliError `usage`. */
export function checkOptions(options: ChatOptions): void {
  const inSession = options.session !== undefined || options.continue === true;
  if (options.session !== undefined && options.continue === true) {
    throw usage("--continue and --session exclude each other");
  }
  if (options.session?.trim() === "") throw usage("--session: the session id is empty");
  for (const name of ["agent", "project"] as const) {
    if (inSession && options[name] !== undefined) {
      throw usage(
        `--${name} applies only to a new session`,
        `leave out --${name}, or --session and --continue`,
      );
    }
  }
  if (options.tool !== undefined && options.tools === false) {
    throw usage("--tool and --no-tools exclude each other");
  }
  if (options.model !== undefined && (options.provider ?? options.modelVersion) !== undefined) {
    throw usage(
      "--model already names provider and version",
      "use --model alone, or the other two",
    );
  }
}

/** The output format. Throws CliError `usage` for a format that chat does not have. */
export function formatOf(options: ChatOptions): ChatFormat {
  const isJson = options.json === true || selectionOf(options) !== undefined;
  const isExplicit = options.output !== undefined && options.flagSources?.["output"] !== "env";
  const name = isJson && !isExplicit ? "json" : (options.output ?? "text");
  if (Object.hasOwn(chatRenderers, name)) {
    checkFormatFlags(options, name);
    return name as ChatFormat;
  }
  // KNOWCTL_OUTPUT=table applies to lists only.
  if (options.flagSources?.["output"] === "env") return "text";
  throw usage(
    `--output: chat has no format "${name}"`,
    `use one of ${Object.keys(chatRenderers).join(", ")}`,
  );
}

const kinds: readonly Shown[] = ["reasoning", "tools", "documents"];

/** The steps to show on stderr, from `--show` or the configuration. Default: every kind. */
export function shownOf(
  flag: string | undefined,
  setting: ChatSettings["show"],
): { show: ReadonlySet<Shown>; all: boolean } {
  const words: readonly string[] =
    flag?.split(",").map((word) => word.trim()) ?? (setting ? [setting].flat() : kinds);
  const show = new Set<Shown>();
  for (const word of words) {
    if (word === "all") for (const kind of kinds) show.add(kind);
    else if (kinds.some((kind) => kind === word)) show.add(word as Shown);
    else if (word !== "none") {
      throw usage(`--show: unknown word "${word}"`, `use ${kinds.join(", ")}, none or all`);
    } else if (words.length > 1) throw usage("--show: none cannot be combined with other words");
  }
  return { show, all: words.includes("all") };
}

/** How the answer is drawn, from `--render` or the configuration. */
export function renderModeOf(options: ChatOptions, settings: ChatSettings): RenderMode {
  return options.render ?? settings.render ?? "auto";
}

/** Splits `--model` at the first slash: versions may hold slashes. */
export function splitModel(
  model: string,
  given = "--model",
): { modelProvider: string; modelVersion: string } {
  const slash = model.indexOf("/");
  const parts = { modelProvider: model.slice(0, slash), modelVersion: model.slice(slash + 1) };
  if (slash < 0 || parts.modelProvider.trim() === "" || parts.modelVersion.trim() === "") {
    throw usage(
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
