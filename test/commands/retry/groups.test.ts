import { expect, it } from "vitest";
import { failedInReport, failedInState } from "../../../src/commands/retry/groups.ts";
import type { RunReport } from "../../../src/output/report/stored/record.ts";
import { optionsJson, type RecordedOptions } from "../../../src/sync/state/options.ts";
import { openTestState } from "../../sync/open-state.ts";

const target = "https://h#2";
const optionsWith = (tag: string): RecordedOptions => ({
  byInclude: false,
  pairFromFlag: true,
  mapping: 5,
  settings: { flags: { tags: [tag] } },
});

it("retries a file that failed in several runs with the options of the last", async () => {
  const state = await openTestState();
  const [old, young] = ["old", "young"].map((tag) =>
    state.options.store(optionsJson(optionsWith(tag))),
  );
  const failure = { target, part: 0, reason: "x", retryable: true, status: undefined };
  state.save({
    failures: [
      { ...failure, path: "a.md", id: "a.md", options: young, failedAtMs: 2 },
      // Before it had an id; listed after what failed later.
      { ...failure, path: "b.md", id: "b.md", options: young, failedAtMs: 2 },
      { ...failure, path: "b.md", id: "~", options: old, failedAtMs: 1 },
      { ...failure, path: "c.md", id: "", options: old, failedAtMs: 1 },
    ],
  });
  expect(failedInState(state, target).groups).toMatchObject([
    { options: optionsWith("young"), paths: ["a.md", "b.md"] },
    { options: optionsWith("old"), paths: ["c.md"] },
  ]);
  state.close();
});

it("takes no options from a report that hides a secret in them", () => {
  const failures = ["a.md", "b.md"].map((path, options) => ({ path, options, reason: "x" }));
  const options = [optionsWith("plain"), optionsWith("team ***")];
  const report = { failures, paths: ["."], options } as unknown as RunReport;
  expect(failedInReport(report, "run.json").groups).toMatchObject([
    { options: optionsWith("plain"), paths: ["a.md"] },
    { options: undefined, paths: ["b.md"] },
  ]);
});
