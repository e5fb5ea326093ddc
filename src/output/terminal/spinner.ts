import { neutraliseLine } from "./neutralise.ts";
import type { Output } from "./output.ts";

/** A sign of life on stderr while nothing else can be shown. */
export interface Spinner {
  /** Begins after a short delay, so that a quick answer shows none; a second call changes the text. */
  start(text: string): void;
  /** Resolves when nothing of it is left on the screen. */
  stop(): Promise<void>;
}

const noSpinner: Spinner = { start() {}, async stop() {} };

/** Where nothing can move: a plain line now and then says that the work goes on. */
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
        // stderr may be gone; the answer is what matters.
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
 * What ora needs of a terminal, collected as text. ora's own start() hooks the
 * process's streams and would take its output for a foreign write, so it is
 * only asked to render.
 */
function createScreen(columns: () => number) {
  let text = "";
  const add = (part: string): boolean => {
    text += part;
    return true;
  };
  return {
    take(): string {
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

type Screen = ReturnType<typeof createScreen>;

async function createOra(screen: Screen, text: string) {
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

/** A spinner where stderr is a terminal that can move, else a plain line every 10 s; none with --quiet. */
export function createSpinner(output: Output, { delayMs = 250, plainMs = 10_000 } = {}): Spinner {
  if (output.quiet) return noSpinner;
  if (!output.canMove || output.liveColumns() <= 0) return createPlainSpinner(output, plainMs);
  const screen = createScreen(() => output.liveColumns());
  let label = "";
  let timer: NodeJS.Timeout | undefined;
  // Counts the starts: a spinner that is still loading when its time is over never shows.
  let run = 0;
  let visible: Awaited<ReturnType<typeof createOra>> | undefined;
  // Writes follow each other: the clearing one must be the last.
  let writes: Promise<void> = Promise.resolve();
  const flush = (): void => {
    const text = screen.take();
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
      // Past the gate as a control sequence: the name of a tool may come from outside.
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
