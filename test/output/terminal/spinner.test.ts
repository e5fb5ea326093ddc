import { describe, expect, it, vi } from "vitest";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { createSpinner } from "../../../src/output/terminal/spinner.ts";
import { patienceMs } from "../../patience.ts";
import { createTestContext, type TestContextOptions } from "../../support.ts";

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

  it("erases as many lines as it takes on its own terminal", async () => {
    const { context, spinner } = create({ isTTY: true, columns: 80, liveColumns: 20 });
    spinner.start("a line of thirty-two characters.");
    await vi.waitFor(() => expect(context.stderrText()).toContain("thirty-two"), patienceMs);
    await spinner.stop();
    expect(context.stderrText()).toMatch(/\u001b\[1A\u001b\[K$/);
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
