import { describe, expect, it } from "vitest";
import {
  accessWithoutEffect,
  futureDate,
  longTag,
  metadataNotText,
  openFrontMatter,
  ownerWithoutEmail,
  staleDate,
} from "../../../../src/checks/lint/rules/metadata.ts";
import { check, placesOf } from "./page.ts";

const page = (matter: string): string => `---\ntitle: A\n${matter}\n---\n\nText.\n`;

describe("front matter without a closing line", () => {
  it.each([
    ["---\ntitle: Half\ntags: [a, b\n\n# No end\n\nText.\n", ["---"]],
    ["+++\ntitle = 'Half'\n\nText.\n", ["+++"]],
    // A line between two parts.
    ["---\n\nText: more.\n", []],
    ["---\nText of a page.\n", []],
    ["---\ntitle: Whole\n---\n\nText.\n", []],
    ["# Page\n\n---\nnote: this is text.\n", []],
  ])("%j", async (text, places) => {
    expect(await placesOf(openFrontMatter, text)).toEqual(places);
  });
});

describe("metadata that is not text", () => {
  it("is a list of objects or lists, at any depth", async () => {
    expect(await check(metadataNotText, page("team:\n  leads:\n    - name: Ada"))).toMatchObject([
      {
        at: "team:",
        message: "team.leads is a list of objects or lists, which are sent as JSON text",
      },
    ]);
    expect(await placesOf(metadataNotText, page("matrix: [[1, 2]]"))).toEqual(["matrix: [[1, 2]]"]);
    const toml = "+++\ntitle = 'A'\n[[desks]]\nname = 'main'\n+++\n\nText.\n";
    expect(await placesOf(metadataNotText, toml)).toEqual(["[[desks]]"]);
  });

  it("is nothing that site generators read", async () => {
    for (const key of ["head", "resources", "hero", "cascade", "menu", "kernelspec"]) {
      expect(await placesOf(metadataNotText, page(`${key}:\n  - name: a`)), key).toEqual([]);
    }
  });

  it("is no list that the templates of a site show, and such a list is no long tag", async () => {
    const cards = page(`cards:\n  - heading: ${"word ".repeat(60)}`);
    expect(await placesOf(metadataNotText, cards)).toEqual(["cards:"]);
    expect(await placesOf(longTag, cards)).toEqual([]);
    for (const [generator, found] of [
      ["jekyll", []],
      ["obsidian", ["cards:"]],
    ] as const) {
      expect(await placesOf(metadataNotText, cards, { settings: { generator } })).toEqual(found);
      const long = page(`prompt: ${"word ".repeat(60)}`);
      const tags = await placesOf(longTag, long, { settings: { generator } });
      expect(tags).toHaveLength(found.length);
    }
  });

  it("is not a list of words, an object, a number, or the value of a field", async () => {
    for (const matter of ["a: [b, c]", "a:\n  b: 1", "a: 3", "a:", "owners:\n  - name: Ada"]) {
      expect(await placesOf(metadataNotText, page(matter)), matter).toEqual([]);
    }
    expect(
      await placesOf(metadataNotText, "+++\nweight = 10\nd = 2024-01-01\n+++\nText.\n"),
    ).toEqual([]);
  });
});

describe("a long tag", () => {
  it("has more than 255 characters with its key", async () => {
    const most = `team: ${"x".repeat(251)}`;
    expect(await placesOf(longTag, page(most))).toEqual([]);
    expect(await placesOf(longTag, page(`${most}x`))).toEqual([`${most}x`]);
    expect(await placesOf(longTag, page(`teams: [a, ${"x".repeat(300)}]`))).toHaveLength(1);
  });

  it("is no text for readers, and has no place if it comes from the configuration", async () => {
    const long = "x".repeat(300);
    expect(await placesOf(longTag, page(`description: ${long}`))).toEqual([]);
    const settings = { metadata: { team: long } };
    expect(await placesOf(longTag, "Text.\n", { settings })).toEqual([undefined]);
  });
});

describe("dates", () => {
  const facts = { commit: { id: "4f2a9c1", date: "2026-03-01T09:00:00Z" } };

  it("lie in the future if they are more than a day ahead", async () => {
    expect(await placesOf(futureDate, page("date: 2999-01-01"))).toEqual(["date: 2999-01-01"]);
    const today = new Date().toISOString().slice(0, 10);
    expect(await placesOf(futureDate, page(`date: ${today}`))).toEqual([]);
    const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toJSON();
    expect(await placesOf(futureDate, page(`date: ${inHours(30)}`))).toEqual([]);
    expect(await placesOf(futureDate, page(`date: ${inHours(40)}`))).toHaveLength(1);
    expect(await placesOf(futureDate, page(""))).toEqual([]);
  });

  it("are stale a year before the last commit", async () => {
    const old = page("lastmod: 2025-02-28");
    expect(await check(staleDate, old, { facts })).toMatchObject([
      {
        at: "lastmod: 2025-02-28",
        message: "lastmod is 2025-02-28, and the last commit is 366 days newer (2026-03-01)",
      },
    ]);
    expect(await placesOf(staleDate, page("lastmod: 2025-03-01"), { facts })).toEqual([]);
    // Without git, nothing is known.
    expect(await placesOf(staleDate, old)).toEqual([]);
    const settings = { updatedAt: "git" as const };
    expect(await placesOf(staleDate, page(""), { facts, settings })).toEqual([]);
  });
});

describe("owners", () => {
  it("need a mail address", async () => {
    expect(await placesOf(ownerWithoutEmail, page("owner: Ada"))).toEqual(["owner: Ada"]);
    expect(await check(ownerWithoutEmail, page("owners:\n  - a@b.ch\n  - Ada"))).toMatchObject([
      { at: "owners:", message: "the owner Ada has no mail address" },
    ]);
    const secondary = "secondary_owners:\n  - {first_name: Ada, last_name: B}";
    expect(await check(ownerWithoutEmail, page(secondary))).toMatchObject([
      { message: "the owner Ada B has no mail address" },
    ]);
  });

  it("are not the authors of a text, and not those of CODEOWNERS", async () => {
    expect(await placesOf(ownerWithoutEmail, page("author: Ada"))).toEqual([]);
    expect(await placesOf(ownerWithoutEmail, page("owner: Ada <a@b.ch>"))).toEqual([]);
    const settings = { owners: "codeowners" as const };
    const facts = { owners: [{ display_name: "@team" }] };
    expect(await placesOf(ownerWithoutEmail, "Text.\n", { settings, facts })).toEqual([]);
  });
});

describe("keys for access", () => {
  it("have no effect if they restrict", async () => {
    expect(await placesOf(accessWithoutEffect, page("groups: [hr]\nprivate: true"))).toEqual([
      "private: true",
      "groups: [hr]",
    ]);
    for (const matter of [
      "private: false",
      "access: public",
      "groups: []",
      "visibility:",
      "a: b",
    ]) {
      expect(await placesOf(accessWithoutEffect, page(matter)), matter).toEqual([]);
    }
  });

  it("are those of the configuration", async () => {
    const settings = { accessKeys: ["audience"] };
    const matter = page("private: true\naudience: hr");
    expect(await placesOf(accessWithoutEffect, matter, { settings })).toEqual(["audience: hr"]);
  });
});
