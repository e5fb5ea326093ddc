import type { Case, Effect, FlagCases, Setting } from "./play.ts";

const long = "A sentence of some length that says next to nothing at all.";
const paragraphs = Array.from({ length: 8 }, () => `${long} ${long}`).join("\n\n");
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

export const privateKey =
  "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn\n-----END RSA PRIVATE KEY-----\n";

/** A folder in which every flag about mapping finds something to do. */
export const folder: Readonly<Record<string, string | Uint8Array>> = {
  "docs/a.md": "# Alpha\n\nText of alpha. ![dot](dot.png) [b](b.md)\n\n## Größe\n\nBody.\n",
  "docs/dot.png": pixel,
  "docs/b.md": `# Beta\n\n${paragraphs}\n`,
  "draft.md": "---\ndraft: true\n---\n# Gamma\n\nDraft body.\n",
  "notes.txt": "# Delta\n\nPlain text.\n",
  "rows.csv": "sku,name,notes\n1,Pen,Writes blue\n",
  "hidden/.gitignore": "*.md\n",
  "hidden/h.md": "# Hidden\n\nIgnored text.\n",
  "closed.md": "---\nexternal_access: [a@b.example]\n---\n# Closed\n\nFor a few.\n",
  "key.md": `# Key\n\n${privateKey}`,
  CODEOWNERS: "* owner@example.com\n",
};

/** How a command shows the documents that it makes of one file. */
export interface Shows {
  /** The text in which the documents stand. */
  in: "stdout" | "requests";
  /** Arguments for this file. */
  args(file: string): string;
  /** What has to be before, where a run alone shows nothing. */
  before?: Setting;
  /** Exit code where a file or a row gives no document. */
  failedCode?: number;
  /** Exit code where a document holds a secret. */
  secretCode?: number;
}

/** Each flag that shapes documents, with a value: for commands that refuse it, or where it is idle. */
export const shapingFlags: readonly string[] = [
  "--id-prefix kb/",
  "--source web",
  "--sections headings",
  "--anchors mkdocs",
  "--max-section-chars 300",
  "--link https://x.example/{path}",
  "--link-style mkdocs",
  "--link-base https://x.example/",
  "--links keep",
  "--metadata team=people",
  "--tag hr",
  "--updated-at mtime",
  "--owners codeowners",
  "--meta-commit",
  "--images upload",
  "--map title=name,text=notes",
  "--drafts",
];

/** The flags that shape a document, for a command that shows documents. */
export function shaping(shows: Shows): FlagCases {
  const { in: kind, args, before = {}, failedCode = 10 } = shows;
  const of = (file: string, flag: string, gains: RegExp, more = "", git = false): Effect => ({
    files: folder,
    git,
    ...before,
    args: `${args(file)} ${more}`,
    flag,
    [kind]: { gains },
  });
  const a = "docs/a.md";
  const link = "--link https://x.example/{path}";
  return {
    "--id-prefix": of(a, "--id-prefix kb/", /"id": ?"kb\/docs\/a\.md"/),
    "--source": of(a, "--source web", /"source": ?"web"/),
    "--sections": of(a, "--sections headings", /"text": ?"Alpha > Größe/),
    "--anchors": [
      of(a, "--anchors mkdocs", /#grosse|#groe"|#gro%C3%9Fe|#groe/, `--sections headings ${link}`),
      {
        files: folder,
        ...before,
        args: args(a),
        flag: "--anchors mkdocs",
        refused: /--sections headings/,
      },
    ],
    "--max-section-chars": of(
      "docs/b.md",
      "--max-section-chars 300",
      /"text": ?"A sent[^]*"text": ?"A sent/,
    ),
    "--link": of(a, link, /"link": ?"https:\/\/x\.example\/docs\/a\.md"/),
    "--link-style": [
      of(
        a,
        "--link-style mkdocs",
        /"link": ?"https:\/\/x\.example\/a\/"/,
        "--link-base https://x.example",
      ),
      {
        files: folder,
        ...before,
        args: args(a),
        flag: "--link-style hugo",
        refused: /--link-base https:/,
      },
    ],
    "--link-base": of(
      a,
      "--link-base https://x.example/",
      /https:\/\/x\.example\/docs\/a\.md/,
      "--link {path}",
    ),
    "--links": of(a, "--links keep", /\[b\]\(b\.md\)/, link),
    "--metadata": of(a, "--metadata team=people", /"team": ?"people"/),
    "--tag": of(a, "--tag hr", /"tags": ?\[\s*"hr"/),
    "--updated-at": of(a, "--updated-at git", /"doc_updated_at": ?"2020-01-01/, "", true),
    "--owners": of(a, "--owners codeowners", /owner@example\.com/),
    "--meta-commit": of(a, "--meta-commit", /"source_commit": ?"[0-9a-f]{40}/, "", true),
    // Without a column for the text a row is no document.
    "--map": {
      ...of("rows.csv", "--map title=name,text=notes", /"title": ?"Pen"/),
      codes: [failedCode, 0],
    },
    "--format": [
      of("notes.txt", "--format markdown", /"title": ?"Delta"/),
      { files: folder, args: args("docs"), flag: "--format markdown", refused: /docs is a folder/ },
    ],
    "--drafts": of("draft.md", "--drafts", /Draft body/),
    "--drop-access": {
      ...of("closed.md", "--drop-access", /For a few/),
      codes: [failedCode, 0],
    },
  };
}

/** `--allow-secrets`, for a command that shows documents. */
export function allowing({ in: kind, args, secretCode = 10 }: Shows): FlagCases {
  return {
    "--allow-secrets": {
      files: folder,
      args: args("key.md"),
      flag: "--allow-secrets",
      codes: [secretCode, 0],
      [kind]: { gains: /MIIEpAIBAAKCAQEA/ },
    },
    "--no-lint": {
      files: { "docs/a.md": "# Alpha\n\nText of alpha\n" },
      // An upload reads the configuration of the test as trusted.
      config: { lint: { rules: { tiny: "error" } } },
      args: args("docs/a.md"),
      flag: "--no-lint",
      codes: [secretCode, 0],
      [kind]: { gains: /Text of alpha/ },
    },
  };
}

/** Flags that choose among the files of a folder, for a command that takes folders. */
export function choosing({ in: kind, args, before = {} }: Shows): FlagCases {
  const of = (flag: string, difference: Effect["stdout"]): Case => ({
    files: folder,
    ...before,
    args: args("docs hidden"),
    flag,
    [kind]: difference,
  });
  return {
    "--include": of("--include docs/a.md", { loses: /docs\/b\.md/ }),
    "--exclude": of("--exclude docs/b.md", { loses: /docs\/b\.md/ }),
    "--no-ignore": of("--no-ignore", { gains: /hidden\/h\.md/ }),
  };
}
