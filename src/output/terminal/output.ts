import type { Context, Sink } from "../../context.ts";
import { neutralise, neutraliseJson, neutraliseLine } from "./neutralise.ts";
import { secretsOf, type Secrets } from "./redact.ts";
import { renderText, red, magenta, type Text, dim } from "./text.ts";
import {
  breakCommandsInJson,
  createCommandBreaker,
  formatAnnotation,
  type Annotation,
} from "../workflow-commands.ts";
import { CliError } from "../../errors.ts";

/** `3.4` and `3.4a` as a number with minor/1000: 3.004; text that is not a version as 0. */
function versionOf(text: string | undefined): number {
  const [, major, minor] = /^(\d{1,5})(?:\.(\d{1,5}))?/.exec(text ?? "") ?? [];
  return Number(major ?? 0) + Number(`0.${(minor ?? "0").padStart(3, "0")}`);
}

/**
 * Programs (TERM_PROGRAM) that support OSC 8, with the first version; 0 is any.
 * Source: the terminals' own release notes, collected at
 * https://github.com/Alhadis/OSC8-Adoption.
 */
const firstVersions: ReadonlyMap<string, string> = new Map([
  ["iTerm.app", "3.1"],
  ["WezTerm", "0"],
  ["vscode", "1.72"],
  ["ghostty", "0"],
  ["Hyper", "0"],
  ["Tabby", "0"],
  ["rio", "0"],
  ["zed", "0"],
  ["mintty", "3.1"],
  // tmux forwards links to the outer terminal, which may ignore them.
  ["tmux", "3.4"],
]);

const supportedTerms = /^(?:xterm-(?:kitty|ghostty)|alacritty|foot|contour|wezterm)\b/;

/**
 * Whether the terminal that `env` describes supports hyperlinks (OSC 8). The first
 * match applies:
 *
 * | condition                              | links                           |
 * |----------------------------------------|---------------------------------|
 * | FORCE_HYPERLINK set                    | yes, unless it is 0 or false    |
 * | no terminal, TERM=dumb, CI             | no                              |
 * | TERM_PROGRAM known                     | from its first version          |
 * | screen, or tmux without TERM_PROGRAM   | no: it would print the bytes    |
 * | Windows Terminal, Konsole, VTE >= 0.52 | yes (VTE 0.50 broke on them)    |
 * | TERM of kitty, Alacritty, foot, ...    | yes                             |
 * | anything else                          | no                              |
 */
export function showsHyperlinks(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  const force = env["FORCE_HYPERLINK"];
  if (force) return force !== "0" && force.toLowerCase() !== "false";
  const term = env["TERM"] ?? "";
  if (!isTerminal || term === "dumb" || env["CI"]) return false;
  const since = firstVersions.get(env["TERM_PROGRAM"] ?? "");
  if (since !== undefined) return versionOf(env["TERM_PROGRAM_VERSION"]) >= versionOf(since);
  if (/^(?:screen|tmux)\b/.test(term)) return false;
  if (env["WT_SESSION"] || env["KONSOLE_VERSION"] || env["DOMTERM"]) return true;
  if (Number(env["VTE_VERSION"]) >= 5200) return true;
  return supportedTerms.test(term);
}

export interface OutputOptions {
  quiet?: boolean | undefined;
  verbose?: boolean | undefined;
  debug?: boolean | undefined;
  /** False for `--no-color`. */
  color?: boolean | undefined;
}

/**
 * The only gate to stdout and stderr: everything a command prints passes it.
 * It neutralises strings, redacts registered secrets and drops styles without colour.
 */
export interface Output {
  readonly secrets: Secrets;
  /** Aborted when the user interrupts, to stop slow preparation of output. */
  readonly signal: AbortSignal;
  /** stdout is a terminal. */
  readonly isTerminal: boolean;
  /** stderr is a terminal for spinners and prompts. */
  readonly canMove: boolean;
  /** stderr shows styles. */
  readonly liveColour: boolean;
  /** stdout is a terminal on which written rows can be erased. */
  readonly canRedraw: boolean;
  /** stdout shows colours and other styles. */
  readonly hasColour: boolean;
  /** stdout shows hyperlinks. */
  readonly hasLinks: boolean;
  readonly verbose: boolean;
  readonly debug: boolean;
  readonly quiet: boolean;
  /** Milliseconds since the epoch, for relative times. */
  now(): number;
  /** Width of stdout. */
  columns(): number;
  /** Height of stdout. */
  rows(): number;
  /** Width of stderr, which shows the live line. */
  liveColumns(): number;
  /** Writes data for people on stdout, without adding a newline. */
  write(...parts: Text[]): Promise<void>;
  /** Writes one line on stdout. */
  line(...parts: Text[]): Promise<void>;
  /** Writes JSON text on stdout: the data is unchanged, dangerous characters are escaped. */
  json(json: string): Promise<void>;
  /** Writes bytes on a stdout that is not a terminal; replaces only registered secrets. */
  bytes(bytes: Uint8Array): Promise<void>;
  /** Writes a line for people on stderr; silent with --quiet. */
  note(...parts: Text[]): Promise<void>;
  /** Writes text on stderr without adding a newline; silent with --quiet. */
  aside(...parts: Text[]): Promise<void>;
  warn(...parts: Text[]): Promise<void>;
  error(...parts: Text[]): Promise<void>;
  /** Writes a further line of a warning or error on stderr, also with --quiet. */
  problem(...parts: Text[]): Promise<void>;
  /**
   * Writes an annotation on stderr for GitHub's runner; elsewhere nothing. The only
   * workflow command that passes the gate, because its texts are escaped.
   */
  annotate(annotation: Annotation): Promise<void>;
  /** Writes our own escape sequences for the live line on stderr. Never untrusted text. */
  control(sequence: string): Promise<void>;
  /** Writes the text held back as a possible start of a secret. */
  flush(): Promise<void>;
}

function wantsColour(sink: Sink, env: Context["env"], options: OutputOptions): boolean {
  if (options.color === false) return false;
  if (env["NO_COLOR"]) return false;
  const force = env["FORCE_COLOR"];
  if (force !== undefined && force !== "") return force !== "0" && force !== "false";
  return sink.isTTY && env["TERM"] !== "dumb";
}

// A stream may cut between the two code units of a character.
const highSurrogate = /[\ud800-\udbff]$/;

function createGate(sink: Sink, context: Context, options: OutputOptions, secrets: Secrets) {
  const colour = wantsColour(sink, context.env, options);
  // "No colour" means no escape sequences at all.
  const links = colour && showsHyperlinks(context.env, sink.isTTY);
  const inCi = Boolean(context.env["GITHUB_ACTIONS"] || context.env["TF_BUILD"]);
  const breakCommands = inCi ? createCommandBreaker() : (text: string): string => text;
  let half = "";
  const clean = (part: string): string => {
    let text = half + part;
    half = highSurrogate.exec(text)?.[0] ?? "";
    text = half === "" ? text : text.slice(0, -1);
    return breakCommands(neutralise(text));
  };
  let held = "";
  let isLineOpen = false;
  const send = async (rendered: string): Promise<void> => {
    const text = held + rendered;
    // Redaction needs the whole secret, so a possible start of one is held back.
    const open = secrets.openTail(text);
    const end = text.length - open;
    held = text.slice(end);
    if (text !== "") isLineOpen = !text.endsWith("\n");
    await sink.write(secrets.redact(text.slice(0, end)));
  };
  let heldBytes = "";
  // latin1: one character for each byte. Keys are ASCII, so redaction finds them in any file.
  const sendBytes = (text: string): Promise<void> => sink.write(Buffer.from(text, "latin1"));
  const flush = async (): Promise<void> => {
    const text = held + half;
    held = "";
    half = "";
    await sink.write(secrets.redactLast(text));
    const bytes = heldBytes;
    heldBytes = "";
    if (bytes !== "") await sendBytes(secrets.redactLast(bytes));
  };
  return {
    colour,
    links,
    flush,
    send,
    async bytes(bytes: Uint8Array): Promise<void> {
      const text = heldBytes + Buffer.from(bytes).toString("latin1");
      const end = text.length - secrets.openTail(text);
      heldBytes = text.slice(end);
      await sendBytes(secrets.redact(text.slice(0, end)));
    },
    write: (parts: readonly Text[]): Promise<void> => send(renderText(parts, colour, clean, links)),
    /** Writes lines for people, broken at words. Redacts before: a break would hide a secret. */
    async lines(parts: readonly Text[], columns: number): Promise<void> {
      // Loaded on a terminal alone: measuring text costs time at the start.
      const { wrapLines } = await import("./width.ts");
      await send(wrapLines(secrets.redact(renderText(parts, colour, clean, links)), columns));
    },
    async annotate(annotation: Annotation): Promise<void> {
      // The runner (and the breaker) checks only the start of a line.
      if (isLineOpen || half !== "") await send(clean("\n"));
      await flush();
      // Texts are broken up too: a runner that ignores `::` may search the line for `##[name]`.
      const line = formatAnnotation(annotation, (text) =>
        createCommandBreaker()(neutralise(secrets.redact(text))),
      );
      await sink.write(`${secrets.redact(line)}\n`);
    },
    async json(text: string): Promise<void> {
      await flush();
      const inert = neutraliseJson(text);
      await sink.write(secrets.redact(inCi ? breakCommandsInJson(inert) : inert));
    },
  };
}

/** Creates the gate of this run from the context's sinks. */
export function createOutput(context: Context, options: OutputOptions = {}): Output {
  const secrets = secretsOf(context);
  const stdout = createGate(context.stdout, context, options, secrets);
  const stderr = createGate(context.stderr, context, options, secrets);
  const quiet = options.quiet === true;
  const allowsMotion = context.env["TERM"] !== "dumb" && !context.env["CI"];
  const canMove = context.stderr.isTTY && allowsMotion;
  const writeLine = (...parts: Text[]): Promise<void> =>
    canMove
      ? stderr.lines([...parts, "\n"], context.stderr.columns())
      : stderr.write([...parts, "\n"]);
  return {
    secrets,
    signal: context.signal,
    isTerminal: context.stdout.isTTY,
    canMove,
    liveColour: wantsColour(context.stderr, context.env, options),
    canRedraw: context.stdout.isTTY && allowsMotion,
    hasColour: stdout.colour,
    hasLinks: stdout.links,
    verbose: options.verbose === true || options.debug === true,
    debug: options.debug === true,
    quiet,
    now: () => context.now(),
    columns: () => context.stdout.columns(),
    rows: () => context.stdout.rows?.() ?? 24,
    liveColumns: () => context.stderr.columns(),
    write: (...parts) => stdout.write(parts),
    line: (...parts) => stdout.write([...parts, "\n"]),
    json: (json) => stdout.json(json),
    bytes: (bytes) => stdout.bytes(bytes),
    async note(...parts) {
      if (!quiet) await writeLine(...parts);
    },
    async aside(...parts) {
      if (!quiet) await stderr.write(parts);
    },
    warn: (...parts) => writeLine(magenta("warning: "), ...parts),
    error: (...parts) => writeLine(red("error: "), ...parts),
    problem: (...parts) => writeLine(...parts),
    async annotate(annotation) {
      if (context.env["GITHUB_ACTIONS"]) await stderr.annotate(annotation);
    },
    control: (sequence) => stderr.send(sequence),
    async flush() {
      await stdout.flush();
      await stderr.flush();
    },
  };
}

/**
 * Writes a failure on stderr: the message, its details and its hints. Any error
 * that is not a CliError is reported as a bug.
 */
export async function writeError(output: Output, error: unknown): Promise<void> {
  const known = error instanceof CliError ? error : undefined;
  const message = known?.message ?? `unexpected: ${String(error)}`;
  await output.error(neutraliseLine(message));
  for (const detail of known?.details ?? []) await output.problem("  ", neutraliseLine(detail));
  const hints = known?.hints ?? ["this is a bug in knowctl; run again with --debug and report it"];
  for (const hint of hints) await output.problem("  → ", neutraliseLine(hint));
  // GitHub shows annotations with the run; exit `changes` is not a failure.
  if (known?.exit !== "changes") {
    await output.annotate({ level: "error", title: "knowctl", message: neutraliseLine(message) });
  }
  if (output.debug && error instanceof Error) await output.problem(dim(error.stack ?? ""));
}
