import { neutraliseLine } from "./neutralise.ts";
import type { Output } from "./output.ts";

/** Shows activity on stderr while there is no other output. */
export interface Spinner {
  /** Starts after a short delay, so that a fast answer shows none; a second call changes the text. */
  start(text: string): void;
  /** Resolves when the spinner is erased from the screen. */
  stop(): Promise<void>;
}

const noSpinner: Spinner = { start() {}, async stop() {} };

/** Without a terminal: a plain line at intervals shows that the work continues. */
function createPlainSpinner(output: Output, everyMs: number): Spinner {
  let timer: NodeJS.Timeout | undefined;
  let label = "";
  return {
    start(text) {
      label = text;
      if (timer) return;
      let waitedMs = 0;
      timer = setInterval(() => {
        waitedMs += everyMs;
        // stderr may be closed; the answer on stdout matters more.
        output.note(`${label} (${Math.round(waitedMs / 1000)} s)`).catch(() => {});
      }, everyMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

const escape = "\u001b[";

/**
 * A fake terminal that collects ora's output as text. Only ora's render() is used:
 * its start() hooks the process's streams and would treat our output as foreign.
 */
function createFakeTerminal(columns: () => number) {
  let text = "";
  const add = (part: string): boolean => {
    text += part;
    return true;
  };
  return {
    drain(): string {
      const all = text;
      text = "";
      return all;
    },
    stream: {
      isTTY: true,
      get columns() {
        return columns();
      },
      write: add,
      cursorTo: (column: number) => add(`${escape}${column + 1}G`),
      moveCursor: (_dx: number, dy: number) => add(dy < 0 ? `${escape}${-dy}A` : ""),
      clearLine: () => add(`${escape}K`),
    },
  };
}

type FakeTerminal = ReturnType<typeof createFakeTerminal>;

async function createOra(screen: FakeTerminal, text: string) {
  const { default: ora } = await import("ora");
  return ora({
    text,
    // With ora's default Ctrl-C would do nothing (ora #253).
    discardStdin: false,
    hideCursor: false,
    isEnabled: true,
    color: false,
    stream: screen.stream as unknown as NodeJS.WriteStream,
  });
}

/** A spinner if `output.canMove`, else a plain line every 10 s; nothing with --quiet. */
export function createSpinner(output: Output, { delayMs = 250, plainMs = 10_000 } = {}): Spinner {
  if (output.quiet) return noSpinner;
  if (!output.canMove || output.liveColumns() <= 0) return createPlainSpinner(output, plainMs);
  const screen = createFakeTerminal(() => output.liveColumns());
  let label = "";
  let timer: NodeJS.Timeout | undefined;
  // Increased by stop(): a spinner that is still loading then never appears.
  let run = 0;
  let visible: Awaited<ReturnType<typeof createOra>> | undefined;
  // Writes run in order: the one that clears the line must be last.
  let writes: Promise<void> = Promise.resolve();
  const flush = (): void => {
    const text = screen.drain();
    if (text !== "") writes = writes.then(() => output.control(text)).catch(() => {});
  };
  const spin = async (): Promise<void> => {
    const mine = run;
    const spinner = await createOra(screen, label);
    if (run !== mine) return;
    visible = spinner;
    const render = (): void => {
      spinner.text = label;
      spinner.render();
      flush();
    };
    render();
    timer = setInterval(render, spinner.interval);
    timer.unref();
  };
  return {
    start(text) {
      // control() does not neutralise, and the text may contain an untrusted tool name.
      label = neutraliseLine(text);
      if (timer) return;
      timer = setTimeout(() => void spin().catch(() => {}), delayMs);
      timer.unref();
    },
    async stop() {
      clearTimeout(timer);
      timer = undefined;
      run++;
      if (!visible) return;
      visible.clear();
      visible = undefined;
      flush();
      await writes;
    },
  };
}

/** Runs `work` behind a spinner. */
export async function whileWaiting<T>(
  output: Output,
  label: string,
  work: () => Promise<T>,
): Promise<T> {
  const spinner = createSpinner(output);
  spinner.start(label);
  try {
    return await work();
  } finally {
    await spinner.stop();
  }
}
