import { describe, expect, it, vi } from "vitest";
import { createOutput } from "../../../src/output/terminal/output.ts";
import {
  type ProgressState,
  countOf,
  formatDuration,
  progressLine,
  startProgress,
} from "../../../src/output/terminal/progress.ts";
import { type TestContextOptions, createTestContext } from "../../support.ts";
import { createSpinner } from "../../../src/output/terminal/spinner.ts";
import { patienceMs } from "../../patience.ts";

const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };
const state: ProgressState = {
  phase: "uploading",
  done: 250,
  total: 1000,
  counts,
  retries: 0,
  slowBecause: undefined,
};

describe("durations", () => {
  const cases: [number, string][] = [
    [0, "0.0s"],
    [1234, "1.2s"],
    [59_000, "59s"],
    [61_000, "1m01s"],
    [3_600_000, "1h0m"],
    [90_061_000, "1d1h"],
  ];
  it.each(cases)("%i ms is %s", (ms, text) => expect(formatDuration(ms)).toBe(text));
});

it("counts in words", () => {
  expect([
    countOf(1, "document"),
    countOf(1234, "document"),
    countOf(2, "retry", "retries"),
  ]).toEqual(["1 document", "1,234 documents", "2 retries"]);
});

describe("the progress line", () => {
  const cases: [string, Partial<ProgressState>, number, string][] = [
    ["rate and time left", {}, 1000, "uploading 250/1,000  250/s  ETA 3.0s"],
    ["slow", { done: 5 }, 10_000, "uploading 5/1,000  0.5/s  ETA 33m10s"],
    ["nothing yet", { done: 0 }, 5000, "uploading 0/1,000"],
    ["too early for a rate", {}, 100, "uploading 250/1,000"],
    ["an unknown total", { phase: "reading", total: undefined }, 9000, "reading 250 files"],
    [
      "what is not zero",
      { counts: { ...counts, created: 240, failed: 10 }, retries: 1, slowBecause: "throttled" },
      1000,
      "uploading 250/1,000  250/s  ETA 3.0s  240 created  10 failed  1 retry  throttled",
    ],
    ["done", { done: 1000 }, 4000, "uploading 1,000/1,000  250/s"],
  ];
  it.each(cases)("%s", (_name, change, elapsedMs, line) => {
    expect(progressLine({ ...state, ...change }, elapsedMs)).toBe(line);
  });

  const busy = {
    ...state,
    counts: { ...counts, created: 240, updated: 5, unchanged: 5, failed: 10 },
    retries: 7,
    throttled: 4,
    slowBecause: "throttled to 2 at once",
  };
  it.each([
    [
      120,
      "uploading 250/1,000  250/s  ETA 3.0s  240 created  5 updated  10 failed  7 retries  4 throttled  throttled to 2 at once",
    ],
    [
      96,
      "uploading 250/1,000  250/s  ETA 3.0s  10 failed  7 retries  4 throttled  throttled to 2 at once",
    ],
    [56, "uploading 250/1,000  10 failed  throttled to 2 at once"],
    [36, "uploading 250/1,000  10 failed"],
    [10, "uploading 250/1,000"],
  ])("in %i columns keeps what matters most", (width, line) => {
    expect(progressLine(busy, 1000, width)).toBe(line);
  });

  it.each([
    [70, "uploading 250/1,000  10 failed  pausing 4 s: the service asks for it"],
    [46, "uploading 250/1,000  10 failed  pausing 4 s"],
    [36, "uploading 250/1,000  10 failed"],
  ])("in %i columns shortens a reason before it leaves it out", (width, line) => {
    const slowBecause = "pausing 4 s: the service asks for it";
    expect(progressLine({ ...busy, slowBecause }, 1000, width)).toBe(line);
  });
});

describe("progress", () => {
  it("is silent with --quiet and leaves nothing behind off a terminal", async () => {
    for (const quiet of [true, false]) {
      const context = createTestContext();
      const progress = startProgress(createOutput(context, { quiet }), context.now);
      progress.follow(() => state);
      await progress.stop();
      expect(context.stderrText() + context.stdoutText()).toBe("");
    }
  });
});

function create(options: TestContextOptions, flags = {}) {
  const context = createTestContext(options);
  return { context, spinner: createSpinner(createOutput(context, flags), { delayMs: 1 }) };
}

describe("spinner", () => {
  it("shows its text on a terminal and leaves an empty line behind", async () => {
    const { context, spinner } = create({ isTTY: true });
    spinner.start("waiting");
    await vi.waitFor(() => expect(context.stderrText()).toContain("waiting"), patienceMs);
    await spinner.stop();
    const written = context.stderrText();
    const afterLastText = written.slice(written.lastIndexOf("waiting") + "waiting".length);
    // Back to the first column, line erased; nothing hides the cursor.
    expect(afterLastText.replace("\u001b[?2026l", "")).toBe("\u001b[1G\u001b[K");
    expect(written).not.toContain("\u001b[?25l");
    expect(context.stdoutText()).toBe("");
  });

  it("makes text from outside inert", async () => {
    const { context, spinner } = create({ isTTY: true });
    spinner.start("tool \u001b]52;c;x\u0007\r\nname\u202e");
    await vi.waitFor(() => expect(context.stderrText()).toContain("tool "), patienceMs);
    await spinner.stop();
    expect(context.stderrText()).toContain("tool ^[]52;c;x^G name<U+202E>");
    expect(context.stderrText()).not.toContain("\u001b]");
  });

  it("stays in one row of its own terminal, which can be erased", async () => {
    const { context, spinner } = create({ isTTY: true, columns: 80, liveColumns: 20 });
    spinner.start("a line of thirty-two characters.");
    await vi.waitFor(() => expect(context.stderrText()).toContain("a line of"), patienceMs);
    await spinner.stop();
    expect(context.stderrText()).toMatch(/\u001b\[1G\u001b\[K\S a line of thirty…/);
  });

  it("writes nothing once it is stopped", async () => {
    const { context, spinner } = create({ isTTY: true });
    spinner.start("one");
    await vi.waitFor(() => expect(context.stderrText()).toContain("one"), patienceMs);
    await spinner.stop();
    const written = context.stderrText();
    spinner.start("two");
    await vi.waitFor(() => expect(context.stderrText()).toContain("two"), patienceMs);
    expect(context.stderrText().startsWith(written)).toBe(true);
    await spinner.stop();
    await spinner.stop();
    expect(context.stderrText().endsWith("\u001b[1G\u001b[K")).toBe(true);
  });

  it("shows nothing when it is stopped before its delay is over", async () => {
    const { context, spinner } = create({ isTTY: true });
    spinner.start("early");
    await spinner.stop();
    spinner.start("late");
    await vi.waitFor(() => expect(context.stderrText()).toContain("late"), patienceMs);
    await spinner.stop();
    expect(context.stderrText()).not.toContain("early");
  });

  it.each([
    ["off a terminal", {}, {}],
    ["in CI", { isTTY: true, env: { CI: "1" } }, {}],
    ["on a dumb terminal", { isTTY: true, env: { TERM: "dumb" } }, {}],
    ["with --quiet", { isTTY: true }, { quiet: true }],
    ["on a terminal without columns", { isTTY: true, columns: 0 }, {}],
  ] as const)("is not there %s", async (_name, options, flags) => {
    const { context, spinner } = create(options, flags);
    spinner.start("waiting");
    const live = create({ isTTY: true });
    live.spinner.start("waiting");
    await vi.waitFor(() => expect(live.context.stderrText()).toContain("waiting"), patienceMs);
    await live.spinner.stop();
    await spinner.stop();
    expect(context.stderrText()).toBe("");
  });

  it("is a plain line now and then off a terminal", async () => {
    const context = createTestContext();
    const spinner = createSpinner(createOutput(context), { plainMs: 5 });
    spinner.start("waiting for the answer");
    const lines = /^(waiting for the answer \(\d+ s\)\n){2,}$/;
    await vi.waitFor(() => expect(context.stderrText()).toMatch(lines), patienceMs);
    await spinner.stop();
    const written = context.stderrText();
    const other = createTestContext();
    const later = createSpinner(createOutput(other), { plainMs: 5 });
    later.start("later");
    await vi.waitFor(() => expect(other.stderrText()).toContain("later"), patienceMs);
    await later.stop();
    expect(context.stderrText()).toBe(written);
  });
});
