import type { Coverage, Setting } from "./case.ts";
import { folder } from "./mapping.ts";

const empty = "---\ntitle: Nothing\n---\n";
const two: Setting = { files: { "docs/a.md": empty, "docs/b.md": empty } };
const rule = "--rule empty";
const page = (title: string): string => `# ${title}\n\nEverybody has a desk of their own.\n`;
const pages: Setting = { files: { "docs/a.md": page("Rooms"), "docs/b.md": page("Desks") } };
const long = "x".repeat(300);
const shared = { gains: /\(shared-link\)/ };

/** `lint`: flag by flag. */
export const lint: Coverage = {
  lint: {
    "--rule": [
      { ...two, args: "docs", flag: "--rule tiny", stdout: { loses: /\(empty\)/ } },
      { ...two, args: "docs", flag: "--rule emty", refused: /did you mean "empty"/ },
    ],
    "--max-warnings": [
      { ...two, args: `docs ${rule}`, flag: "--max-warnings 1", codes: [0, 13] },
      {
        ...two,
        args: "docs --baseline b.json --write-baseline",
        flag: "--max-warnings 1",
        refused: /--write-baseline/,
      },
    ],
    "--baseline": {
      ...two,
      first: [`lint docs/a.md ${rule} --baseline b.json --write-baseline`],
      args: `docs ${rule}`,
      flag: "--baseline b.json",
      stdout: { loses: /docs\/a\.md/ },
    },
    "--write-baseline": [
      {
        ...two,
        first: [`lint docs/a.md ${rule} --baseline b.json --write-baseline`],
        args: `docs ${rule} --baseline b.json`,
        flag: "--write-baseline",
        left: { gains: /"path":"docs\/b\.md"/ },
      },
      { ...two, args: "docs", flag: "--write-baseline", refused: /--baseline/ },
    ],
    "--fix": {
      files: { "a.md": "# Rooms\n\nEvery\u200bbody has a desk of their own.\n" },
      args: "a.md --rule invisible-characters",
      flag: "--fix",
      stderr: { gains: /fixed invisible-characters, 1 place/ },
      left: { gains: /Everybody/ },
    },
    "--report": { ...two, args: "docs", flag: "--report r.sarif", left: { gains: /"2\.1\.0"/ } },
    "--gitlab-report": {
      ...two,
      args: "docs",
      flag: "--gitlab-report g.json",
      left: { gains: /g\.json: [^]*"fingerprint"/ },
    },
    "--include": {
      ...two,
      args: `docs ${rule}`,
      flag: "--include docs/a.md",
      stdout: { loses: /docs\/b\.md/ },
    },
    "--exclude": {
      ...two,
      args: `docs ${rule}`,
      flag: "--exclude docs/b.md",
      stdout: { loses: /docs\/b\.md/ },
    },
    "--no-ignore": {
      files: { ...two.files, "docs/.gitignore": "b.md\n" },
      args: `docs ${rule}`,
      flag: "--no-ignore",
      stdout: { gains: /docs\/b\.md/ },
    },
    "--drafts": {
      files: folder,
      args: `draft.md ${rule}`,
      flag: "--drafts",
      stderr: { gains: /in 1 document\n/ },
    },
    "--format": [
      {
        files: folder,
        args: "notes.txt --rule missing-title",
        flag: "--format markdown",
        stdout: { loses: /missing-title/ },
      },
      { files: folder, args: "docs", flag: "--format markdown", refused: /docs is a folder/ },
    ],
    "--id-prefix": {
      files: { "docs/a.md": "---\nid: kb/docs/b.md\n---\nText.\n", "docs/b.md": "Text.\n" },
      args: "docs --rule duplicate-id",
      flag: "--id-prefix kb/",
      codes: [0, 0],
      stdout: { gains: /duplicate-id/ },
    },
    "--map": {
      files: folder,
      args: `rows.csv ${rule}`,
      flag: "--map title=name,text=notes",
      codes: [10, 0],
    },
    "--max-section-chars": {
      files: { "long.txt": "One sentence of the handbook, and a long one.\n\n".repeat(2000) },
      args: "long.txt --rule huge-section",
      flag: "--max-section-chars 1000",
      stdout: { loses: /huge-section/ },
    },
    "--link": {
      ...pages,
      args: "docs --rule shared-link",
      flag: "--link https://x.example/{dir}",
      stdout: shared,
    },
    "--link-style": [
      {
        files: { "docs/a.md": page("Rooms"), "docs/a/index.md": page("Desks") },
        args: "docs --rule shared-link --link-base https://x.example/",
        flag: "--link-style mkdocs",
        stdout: shared,
      },
      { ...pages, args: "docs", flag: "--link-style hugo", refused: /--link-base https:/ },
    ],
    "--link-base": {
      ...pages,
      args: "docs --rule shared-link --link {dir}",
      flag: "--link-base https://x.example/",
      stdout: shared,
    },
    "--metadata": {
      ...pages,
      args: "docs --rule long-tag",
      flag: `--metadata team=${long}`,
      stdout: { gains: /long-tag/ },
    },
    "--tag": {
      ...pages,
      args: "docs --rule long-tag",
      flag: `--tag ${long}`,
      stdout: { gains: /long-tag/ },
    },
  },
};
