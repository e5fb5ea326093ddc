import type { Case, Coverage, FlagCases, Setting } from "./case.ts";
import { choosing, folder, shaping, type Shows } from "./mapping.ts";

const pair = "--cc-pair-id 2";
const byName = ["--connector", "Handbook uploads"];
const two = { "docs/a.md": "# A\n\ntext a\n", "docs/b.md": "# B\n\ntext b\n" };
const many = Object.fromEntries(
  Array.from({ length: 8 }, (_, index) => [`docs/${index}.md`, `# N ${index}\n\ntext\n`]),
);
const broken = Object.fromEntries(
  Array.from({ length: 8 }, (_, index) => [
    `docs/${index}.md`,
    `---\nupdated: never\n---\n# N ${index}\n`,
  ]),
);
const upload: Shows = { in: "requests", args: (file) => `${file} ${pair}` };

/** The flags of a run that sends, with the documents of `setting`. */
function sending(args: string, setting: Setting): FlagCases {
  return {
    "--state": [{ ...setting, args, flag: "--state other", left: { gains: /other\/state\.db/ } }],
    "--concurrency": {
      ...setting,
      args,
      flag: "--concurrency 1",
      requests: { loses: /in flight: [2-9]/ },
    },
    "--rate": { ...setting, args, flag: "--rate 2", waits: { gains: /\d{3}/ } },
    "--dry-run": { ...setting, args, flag: "--dry-run", requests: { loses: /"document"/ } },
    "--exit-code": [
      { ...setting, args: `${args} --dry-run`, flag: "--exit-code", codes: [0, 12] },
      { ...setting, args, flag: "--exit-code", refused: /--dry-run/ },
    ],
    "--report": [
      { ...setting, args, flag: "--report r.json", left: { gains: /r\.json: [^]*"counts"/ } },
      { ...setting, args: `${args} --dry-run`, flag: "--report r.json", refused: /--dry-run/ },
    ],
    "--gitlab-report": [
      { ...setting, args, flag: "--gitlab-report g.json", left: { gains: /g\.json: \[/ } },
      {
        ...setting,
        args: `${args} --dry-run`,
        flag: "--gitlab-report g.json",
        refused: /--dry-run/,
      },
    ],
  };
}

const target: FlagCases = {
  "--cc-pair-id": { files: two, args: "docs", flag: pair, codes: [2, 0] },
  "--connector": [
    { files: two, args: "docs", flag: byName, codes: [2, 0] },
    { files: two, args: `docs ${pair}`, flag: byName, refused: /name the target twice/ },
  ],
};

/** Flags that shape or choose files have no meaning for documents that are finished. */
const onStdin: readonly string[] = [
  "--include docs/**",
  "--exclude docs/**",
  "--no-ignore",
  "--checksum",
  "--id-prefix kb/",
  "--source web",
  "--sections headings",
  "--link https://x.example/{path}",
  "--link-base https://x.example/",
  "--metadata team=people",
  "--tag hr",
  "--updated-at git",
  "--owners codeowners",
  "--meta-commit",
  "--images upload",
  "--map title=name",
  "--drafts",
  "--max-section-chars 300",
  "--since HEAD",
];

const line = `${JSON.stringify({ id: "x", sections: [{ text: "hello" }], source: "file", semantic_identifier: "X", metadata: {} })}\n`;

const refusedOnStdin = (flag: string): Case => ({
  args: `- ${pair}`,
  stdin: line,
  flag,
  refused: /stdin/,
});

function withStdin(cases: FlagCases): FlagCases {
  const more = Object.fromEntries(
    onStdin.map((flag): [string, readonly Case[]] => {
      const [name = ""] = flag.split(" ");
      return [name, [cases[name] ?? [], refusedOnStdin(flag)].flat() as Case[]];
    }),
  );
  return { ...cases, ...more };
}

const shaped = shaping(upload);

const run: FlagCases = {
  ...shaped,
  ...choosing(upload),
  ...target,
  ...sending(`docs ${pair}`, { files: many }),
  "--state": [
    {
      files: two,
      args: `docs ${pair}`,
      flag: "--state other",
      left: { gains: /other\/state\.db/ },
    },
    { files: two, args: `docs ${pair} --no-state`, flag: "--state other", refused: /--no-state/ },
  ],
  "--max-failures": {
    files: { ...broken, "docs/good.md": "# Good\n\ntext\n" },
    args: `docs ${pair}`,
    flag: "--max-failures 1",
    codes: [10, 10],
    requests: { loses: /docs\/good\.md/ },
    stderr: { gains: /stopped after 8 failed documents/ },
  },
  "--images": {
    files: folder,
    args: `docs/a.md ${pair}`,
    flag: "--images upload",
    requests: { gains: /image_file_id/ },
    dialect: "onyx",
  },
  "--since": {
    git: true,
    files: two,
    edits: { "docs/a.md": "# A\n\nother\n" },
    args: `docs ${pair}`,
    flag: "--since HEAD",
    requests: { loses: /docs\/b\.md/ },
  },
  "--shard": {
    files: many,
    args: `docs ${pair}`,
    flag: "--shard 1/2",
    stderr: { gains: /other shards?/ },
  },
  "--allow-empty": {
    files: { "docs/x.bin": "" },
    args: `docs ${pair}`,
    flag: "--allow-empty",
    codes: [2, 0],
  },
  "--checksum": { tested: "test/e2e/unchanged.test.ts" },
  "--force": {
    files: two,
    first: [`ingest docs ${pair}`],
    args: `docs ${pair}`,
    flag: "--force",
    requests: { gains: /"document"/ },
  },
  "--no-state": [
    { files: two, args: `docs ${pair}`, flag: "--no-state", left: { loses: /state\.db/ } },
  ],
  "--id": [
    {
      args: `- ${pair} --format markdown`,
      stdin: "# T\n\ntext\n",
      flag: "--id one",
      codes: [2, 0],
      requests: { gains: /"id":"one"/ },
    },
    { args: `- ${pair}`, stdin: line, flag: "--id one", refused: /NDJSON has its own/ },
    { args: `docs ${pair}`, files: two, flag: "--id one", refused: /stdin/ },
  ],
};

const explain: Shows = { in: "stdout", args: (file) => `${file} --json`, noTextCode: 2 };
const documents: Shows = { in: "stdout", args: (file) => file };

// What fails first is mended before the retry: then there is something to send again.
const mended: Setting = {
  files: { ...folder, "docs/a.md": "---\nupdated: never\n---\n# A\n" },
  first: [`ingest docs ${pair}`],
  edits: { "docs/a.md": folder["docs/a.md"] as string },
};
const retry: Shows = { in: "requests", args: () => pair, before: mended };
const { "--map": _map, "--format": _format, "--drafts": _drafts, ...retried } = shaping(retry);
const long = { ...mended, edits: { "docs/a.md": folder["docs/b.md"] as string } };
const rows: Setting = { files: folder, first: [`ingest rows.csv ${pair}`], args: pair };
const failedRetry = { files: broken, first: [`ingest docs ${pair}`], edits: many, args: pair };

/** For orphans only the ids count: a script may give the same flags as to the upload. */
const idle = "shapes documents, not ids; a script gives the same flags to both commands";
const sent: Setting = { files: two, first: [`ingest docs ${pair}`] };
const gone: Setting = { ...sent, edits: { "docs/b.md": undefined } };
const removal = `docs ${pair}`;
const orphans = (flag: string): Case => ({ ...sent, args: `docs ${pair}`, flag, harmless: idle });

export const ingest: Coverage = {
  ingest: withStdin(run),
  "ingest explain": {
    ...shaping(explain),
    "--include": {
      files: folder,
      args: "docs/a.md --json",
      flag: "--include *.txt",
      stdout: { gains: /not named by --include/ },
    },
    "--exclude": {
      files: folder,
      args: "docs/a.md --json",
      flag: "--exclude docs/**",
      stdout: { gains: /named by exclude/ },
    },
    "--no-ignore": {
      files: folder,
      args: "hidden/h.md --json",
      flag: "--no-ignore",
      stdout: { gains: /"isIncluded": true/ },
    },
    "--cc-pair-id": {
      files: two,
      args: "docs/a.md --json",
      flag: pair,
      stdout: { gains: /"target": 2/ },
    },
    "--connector": {
      files: two,
      args: "docs/a.md --json",
      flag: byName,
      stdout: { gains: /"target": "Handbook/ },
    },
    "--state": {
      files: two,
      first: [`ingest docs ${pair} --state other`],
      args: "docs/a.md --json",
      flag: "--state other",
      stdout: { gains: /accepted by/ },
    },
    "--row": {
      files: { "r.csv": "id,title,text\n1,One,first\n2,Two,second\n" },
      args: "r.csv --json",
      flag: "--row 2",
      stdout: { gains: /second/ },
    },
    "--images": {
      files: folder,
      args: "docs/a.md --json",
      flag: "--images upload",
      stdout: { gains: /"image_file_id"/ },
    },
  },
  "ingest retry": {
    ...retried,
    ...sending(pair, { files: broken, first: [`ingest docs ${pair}`], edits: many }),
    "--include": {
      ...failedRetry,
      flag: "--include docs/1.md",
      requests: { loses: /docs\/2\.md/ },
    },
    "--exclude": {
      ...failedRetry,
      flag: "--exclude docs/2.md",
      requests: { loses: /docs\/2\.md/ },
    },
    "--no-ignore": {
      ...failedRetry,
      flag: "--no-ignore",
      harmless: "each file that failed is named: no ignore file leaves it out",
    },
    "--max-section-chars": {
      ...long,
      args: pair,
      flag: "--max-section-chars 300",
      requests: { gains: /"text":"A sent[^]*"text":"A sent/ },
    },
    "--map": {
      ...rows,
      flag: "--map title=name,text=notes",
      codes: [10, 0],
      requests: { gains: /"title":"Pen"/ },
    },
    "--format": { ...failedRetry, flag: "--format markdown", refused: /for files that are named/ },
    "--drafts": {
      ...failedRetry,
      edits: { ...many, "docs/1.md": "---\ndraft: true\n---\n# Draft\n\nDraft body\n" },
      flag: "--drafts",
      requests: { gains: /Draft body/ },
    },
    "--images": {
      ...mended,
      args: pair,
      flag: "--images upload",
      dialect: "onyx",
      requests: { gains: /image_file_id/ },
    },
    "--cc-pair-id": { ...failedRetry, args: "", flag: pair, stderr: { gains: /8 files failed/ } },
    "--connector": { ...failedRetry, args: "", flag: byName, stderr: { gains: /8 files failed/ } },
    "--state": {
      files: broken,
      first: [`ingest docs ${pair} --state other`],
      edits: many,
      args: pair,
      flag: "--state other",
      codes: [9, 0],
    },
    "--max-failures": {
      ...failedRetry,
      edits: { "docs/1.md": "# Good\n\ntext\n" },
      flag: "--max-failures 1",
      codes: [10, 10],
      requests: { loses: /docs\/1\.md/ },
    },
  },
  "ingest documents": {
    ...shaping(documents),
    ...choosing(documents),
    "--images": {
      files: folder,
      args: "docs/a.md",
      flag: "--images upload",
      refused: /nothing is sent/,
    },
    "--since": {
      git: true,
      files: two,
      edits: { "docs/a.md": "# A\n\nother\n" },
      args: "docs",
      flag: "--since HEAD",
      stdout: { loses: /docs\/b\.md/ },
    },
    "--shard": {
      files: many,
      args: "docs",
      flag: "--shard 1/2",
      stderr: { gains: /other shards?/ },
    },
    "--allow-empty": {
      files: { "docs/x.bin": "" },
      args: "docs",
      flag: "--allow-empty",
      codes: [2, 0],
    },
    "--cc-pair-id": { files: two, args: "docs", flag: pair, stdout: { gains: /"cc_pair_id":2/ } },
  },
  "ingest orphans": {
    "--include": {
      ...gone,
      args: removal,
      flag: "--include docs/a.md",
      stdout: { loses: /docs\/b\.md/ },
    },
    "--exclude": {
      ...gone,
      args: removal,
      flag: "--exclude docs/b.md",
      stdout: { loses: /docs\/b\.md/ },
    },
    "--no-ignore": {
      files: { ...two, "docs/c.md": "# C\n\ntext c\n" },
      first: [`ingest docs ${pair}`],
      edits: { "docs/.gitignore": "c.md\n" },
      args: removal,
      flag: "--no-ignore",
      harmless: "a file that is ignored now is no orphan: it exists",
    },
    "--id-prefix": {
      ...sent,
      args: removal,
      flag: "--id-prefix kb/",
      stdout: { gains: /docs\/a\.md/ },
    },
    "--map": {
      files: { "r.csv": "sku,name,notes\n1,Pen,blue\n" },
      first: [`ingest r.csv ${pair} --map id=sku,title=name,text=notes`],
      args: `r.csv ${pair}`,
      flag: "--map id=name,title=name,text=notes",
      codes: [10, 0],
    },
    "--format": { ...sent, args: removal, flag: "--format markdown", refused: /docs is a folder/ },
    "--drafts": {
      files: { ...two, "docs/c.md": "---\ndraft: true\n---\n# C\n\ntext c\n" },
      first: [`ingest docs ${pair} --drafts`],
      args: removal,
      flag: "--drafts",
      stdout: { loses: /docs\/c\.md/ },
    },
    "--cc-pair-id": {
      ...gone,
      args: "docs",
      flag: pair,
      codes: [2, 0],
      stdout: { gains: /docs\/b\.md/ },
    },
    "--connector": {
      ...gone,
      args: "docs",
      flag: byName,
      codes: [2, 0],
      stdout: { gains: /docs\/b\.md/ },
    },
    "--state": {
      files: two,
      first: [`ingest docs ${pair} --state other`],
      edits: { "docs/b.md": undefined },
      args: removal,
      flag: "--state other",
      stdout: { gains: /docs\/b\.md/ },
    },
    "--concurrency": {
      ...gone,
      args: removal,
      flag: "--concurrency 1",
      harmless: "nothing is in flight: the limit is kept",
    },
    "--rate": {
      files: many,
      first: [`ingest docs ${pair}`],
      edits: Object.fromEntries(
        Object.keys(many)
          .slice(0, 4)
          .map((name) => [name, undefined]),
      ),
      args: `${removal} --tombstone --yes --max-delete 100%`,
      flag: "--rate 2",
      waits: { gains: /\d{3}/ },
    },
    "--fields": {
      ...gone,
      args: `${removal} --tombstone --yes --max-delete 100%`,
      flag: "--fields nosuch",
      codes: [0, 2],
      requests: { loses: /"document"/ },
    },
    "--prune": [
      {
        ...gone,
        dialect: "onyx",
        args: `${removal} --max-delete 100%`,
        flag: "--prune --yes",
        codes: [2, 0],
        requests: { gains: /^DELETE/m },
      },
      { ...gone, args: removal, flag: "--prune --yes", refused: /cannot delete/ },
    ],
    "--tombstone": [
      {
        ...gone,
        args: removal,
        flag: "--tombstone --yes --max-delete 100%",
        requests: { gains: /"document"/ },
      },
      {
        ...gone,
        dialect: "onyx",
        args: `${removal} --prune`,
        flag: "--tombstone",
        refused: /exclude each other/,
      },
    ],
    "--max-delete": [
      { ...gone, args: `${removal} --tombstone --yes`, flag: "--max-delete 100%", codes: [2, 0] },
      { ...gone, args: removal, flag: "--max-delete 5", refused: /--prune or --tombstone/ },
    ],
    "--dry-run": {
      ...gone,
      args: `${removal} --tombstone --yes --max-delete 100%`,
      flag: "--dry-run",
      requests: { loses: /"document"/ },
    },
    "--yes": [
      { ...gone, args: `${removal} --tombstone --max-delete 100%`, flag: "--yes", codes: [2, 0] },
      { ...gone, args: removal, flag: "--yes", refused: /only listed/ },
    ],
    "--source": orphans("--source web"),
    "--sections": orphans("--sections headings"),
    "--anchors": orphans("--anchors mkdocs --sections headings"),
    "--max-section-chars": orphans("--max-section-chars 300"),
    "--link": orphans("--link https://x.example/{path}"),
    "--link-base": orphans("--link-base https://x.example/"),
    "--metadata": orphans("--metadata team=people"),
    "--tag": orphans("--tag hr"),
    "--updated-at": orphans("--updated-at mtime"),
    "--owners": orphans("--owners codeowners"),
    "--meta-commit": { ...(orphans("--meta-commit") as Setting), git: true } as Case,
    "--images": orphans("--images upload"),
  },
};
