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

describe("half a character", () => {
  it.each(["a\ud83d", "a\ud83d[b](c)", "a\udc4db"])(
    "alone is one that has a column (%j)",
    async (source) => {
      const rows = [source.toWellFormed().replace("[b](c)", "b (c)")];
      expect(await (await draw([source])).rows()).toEqual(rows);
      expect(await (await draw(source.split(""))).rows()).toEqual(rows);
    },
  );

  it("joins the other one", async () => {
    expect(await (await draw(["a\ud83d", "\udc4db"])).rows()).toEqual(["a\u{1f44d}b"]);
  });
});
