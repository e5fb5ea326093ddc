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

const eraseRow = "\u001b[1G\u001b[K";

/**
 * A spinner if `output.canMove`, else a plain line every 10 s; nothing with --quiet. Only the
 * frames are ora's: its start() hooks the process's streams and would treat our output as foreign.
 */
export function createSpinner(output: Output, { delayMs = 250, plainMs = 10_000 } = {}): Spinner {
  if (output.quiet) return noSpinner;
  if (!output.canMove || output.liveColumns() <= 0) return createPlainSpinner(output, plainMs);
  let label = "";
  let timer: NodeJS.Timeout | undefined;
  // Increased by stop(): a spinner that is still loading then never appears.
  let run = 0;
  let isVisible = false;
  // Writes run in order: the one that clears the line must be last.
  let writes: Promise<void> = Promise.resolve();
  const write = (text: string): void => {
    writes = writes.then(() => output.control(text)).catch(() => {});
  };
  const spin = async (): Promise<void> => {
    const mine = run;
    const [{ default: ora }, { fit }] = await Promise.all([import("ora"), import("./width.ts")]);
    if (run !== mine) return;
    const frames = ora({ color: false, discardStdin: false, isEnabled: false });
    isVisible = true;
    const render = (): void => {
      frames.text = label;
      // A row that the terminal would break could not be erased.
      write(eraseRow + fit(frames.frame(), output.liveColumns() - 1));
    };
    render();
    timer = setInterval(render, frames.interval);
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
      if (!isVisible) return;
      isVisible = false;
      write(eraseRow);
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

/** Yields the rows; while the next one is pending, a spinner shows. */
export async function* rowsWhileWaiting<Row>(
  output: Output,
  label: string,
  rows: AsyncIterable<Row>,
): AsyncGenerator<Row> {
  const spinner = createSpinner(output);
  spinner.start(label);
  try {
    for await (const row of rows) {
      await spinner.stop();
      yield row;
      spinner.start(label);
    }
  } finally {
    await spinner.stop();
  }
}
