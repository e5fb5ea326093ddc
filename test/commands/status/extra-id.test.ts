import { expect, it } from "vitest";
import { dialects } from "../../../src/api/dialects.ts";
import { createExtraId } from "../../../src/commands/status/compare.ts";
import { writeFiles } from "../../service.ts";
import { temporaryFolder } from "../../support.ts";

const storedId = dialects.onyx.storedId!;

it("knows the documents of this project by prefix, encoding and file", () => {
  const root = temporaryFolder();
  writeFiles(root, { "a b/c_d.md": "", "rows.csv": "", "cafe\u0301.md": "" });
  const below = createExtraId({ root, idPrefix: "k b-", storedId });
  expect(below(storedId("k b-old/x y.md"))).toBe("k_b-old/x_y.md");
  expect(below(storedId("k_b-100%/#1"))).toBe("k_b-100%/#1");
  // Of another project, or not encoded as the service encodes the ids of this one.
  for (const stored of [storedId("kb-x.md"), "k b-x.md", "k_b-old/x.md", "k_b-a%2fb", "k_b-%ff"]) {
    expect(below(stored), stored).toBe(undefined);
  }
  // A file may yield them.
  for (const path of [
    "a b/c d.md",
    "a_b/c_d.md",
    "rows.csv#12",
    "rows.csv",
    "caf\u00e9.md",
    "a b",
  ]) {
    expect(below(storedId(`k b-${path}`)), path).toBe(undefined);
  }
  expect(below(storedId("k b-../x.md"))).toBe("k_b-../x.md");
});

it("shows a foreign id as it is stored where no prefix tells projects apart", () => {
  const all = createExtraId({ root: temporaryFolder(), idPrefix: "", storedId });
  expect(all("a/b c")).toBe("a/b c");
  expect(all("%")).toBe("%");
});
