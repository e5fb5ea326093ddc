import { expect, it } from "vitest";
import { failure, readOk } from "../folder.ts";

const versionOf = (text: string, key = "knowctl_version", setting: boolean | string = true) =>
  readOk(text, { versionTag: setting }).document.metadata?.[key];

it("adds the same version to the same document, and another to other text or metadata", () => {
  const version = versionOf("body\n");
  expect(version).toMatch(/^[\w-]{22}$/);
  expect(versionOf("body\n")).toBe(version);
  expect(versionOf("other\n")).not.toBe(version);
  expect(versionOf("---\nteam: hr\n---\nbody\n")).not.toBe(version);
  expect(versionOf("body\n", "build", "build")).toBe(version);
  expect(versionOf("body\n", "knowctl_version", false)).toBeUndefined();
});

it("fails a document that has the key itself", () => {
  const text = "---\nknowctl_version: 3\n---\nbody\n";
  expect(failure(() => readOk(text, { versionTag: true }))).toBe(
    "page.md: metadata knowctl_version: ingest.versionTag uses this key",
  );
});
