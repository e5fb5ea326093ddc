import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../support.ts";
import { pages, readPage } from "./pages.ts";

// Of util-linux; that of other systems takes other arguments.
const hasScript = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;
const names = ["try", "help", "connectors", "upload", "answer", "lint"];

describe("the pictures of the terminal", () => {
  it.runIf(hasScript)("show what the program shows today", () => {
    const script = join(projectFolder, "scripts", "pictures.js");
    const { status, stderr } = spawnSync(process.execPath, [script, "--check"], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  it.each(names)(
    "%s stands in a page, with a text in its place for those who cannot see it",
    (name) => {
      const shown = new RegExp(`!\\[([^\\]]{20,})\\]\\([^)]*pictures/${name}\\.svg\\)`);
      expect(pages.some((page) => shown.test(readPage(page)))).toBe(true);
    },
  );

  it.each(["page", "report", "eval"])("%s has a text in its place, and a dark form", (name) => {
    const shown = new RegExp(
      `pictures/${name}-dark\\.png">\\s*<img alt="[^"]{20,}" src="pictures/${name}-light`,
    );
    expect(pages.some((page) => shown.test(readPage(page)))).toBe(true);
  });

  it.each(names)("%s has a name, no foreign address and no script", (name) => {
    const text = readFileSync(join(projectFolder, "docs", "pictures", `${name}.svg`), "utf8");
    expect(text).toMatch(/<title>.+<\/title>/);
    expect(text.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(/href|src=|<script/);
  });
});
