import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../../support.ts";
import { draw } from "./draw.ts";

const rich = readFileSync(join(projectFolder, "test/fixtures/markdown/rich.md"), "utf8");

describe("an answer rich in Markdown", () => {
  it.each([24, 40, 80, 200])(
    "looks the same at %d columns, whole or character by character",
    async (columns) => {
      const whole = await draw([rich], { columns });
      const cut = await draw(rich, { columns });
      expect(await cut.looks()).toEqual(await whole.looks());
    },
  );
});
