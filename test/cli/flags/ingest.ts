import type { Case, Coverage, FlagCases } from "./case.ts";
import { orphanCases } from "./prune.ts";
import { retryCases } from "./retry.ts";
import { broken, byName, many, pair, sending, two } from "./ingest-sending.ts";
import { showingCases } from "./ingest-showing.ts";
import { allowing, choosing, folder, shaping, shapingFlags, type Shows } from "./mapping.ts";

const upload: Shows = { in: "requests", args: (file) => `${file} ${pair}` };

const target: FlagCases = {
  "--cc-pair-id": { files: two, args: "docs", flag: pair, codes: [2, 0] },
  "--connector": [
    { files: two, args: "docs", flag: byName, codes: [2, 0] },
    { files: two, args: `docs ${pair}`, flag: byName, refused: /both name the target/ },
  ],
};

/** Flags that shape or choose files have no meaning for documents that are finished. */
const onStdin: readonly string[] = [
  "--include docs/**",
  "--exclude docs/**",
  "--no-ignore",
  "--checksum",
  "--since HEAD",
  // Rows on stdin are mapped, so --map has its effect there.
  ...shapingFlags.filter((flag) => !flag.startsWith("--map ")),
];

const row = '{"id":"x","name":"Pen","notes":"Writes."}\n';

const mapsStdin: Case = {
  args: `- ${pair} --format ndjson`,
  stdin: row,
  flag: "--map title=name,text=notes",
  codes: [10, 0],
  requests: { gains: /"title":"Pen"/ },
};

const line = `${JSON.stringify({ id: "x", sections: [{ text: "text x" }], source: "file", semantic_identifier: "X", metadata: {} })}\n`;

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
  return { ...cases, ...more, "--map": [cases["--map"] ?? [], mapsStdin].flat() as Case[] };
}

const shaped = shaping(upload);

const cannotHold = (args: string): Case => ({
  files: two,
  args: `docs ${pair} ${args}`,
  flag: "--print-config",
  refused: /--print-config (?:cannot print|only prints)/,
});

const printing: FlagCases = {
  "--print-config": [
    {
      files: two,
      args: `docs ${pair} --tag hr --require-access public --concurrency 2 --rate 50`,
      flag: "--print-config",
      stdout: {
        gains: /(?=[^]*"hr")(?=[^]*"requireAccess")(?=[^]*"concurrency": 2)[^]*"rate": 50/,
      },
      requests: { loses: /ingestion/ },
    },
    ...["--dry-run", "--include docs/**", "--drop-access", "--allow-sync", "--allow-secrets"].map(
      cannotHold,
    ),
  ],
};

/** Which documents may go where. */
const guarding: FlagCases = {
  "--require-access": {
    files: two,
    args: `docs ${pair}`,
    flag: "--require-access private",
    codes: [0, 2],
    requests: { loses: /"document"/ },
  },
  "--allow-sync": {
    files: two,
    args: "docs --cc-pair-id 6 --allow-pruned",
    flag: "--allow-sync",
    codes: [2, 0],
    requests: { gains: /"document"/ },
  },
  "--allow-id-change": {
    files: two,
    first: [`ingest docs ${pair}`],
    args: `docs ${pair} --id-prefix kb/`,
    flag: "--allow-id-change",
    codes: [2, 0],
    requests: { gains: /"document"/ },
  },
  "--allow-pruned": {
    files: two,
    args: "docs --cc-pair-id 3",
    flag: "--allow-pruned",
    codes: [2, 0],
    requests: { gains: /"document"/ },
  },
  // Cases share a service: a document of another pair would be there only once.
  "--overwrite": { tested: "test/commands/ingest/target/owners.test.ts" },
};

/** What happens after the upload. */
const checking: FlagCases = {
  "--verify": [
    {
      files: two,
      dialect: "onyx",
      first: [`ingest docs ${pair}`],
      args: `docs ${pair} --force`,
      flag: "--verify",
      requests: { gains: /document-size-info/ },
    },
    { files: two, args: `docs ${pair} --dry-run`, flag: "--verify", refused: /--dry-run/ },
  ],
  "--wait": [
    { files: two, args: `docs ${pair}`, flag: "--wait 5s", refused: /without --verify/ },
    { tested: "test/commands/verify/ingest-verify.test.ts" },
  ],
};

const run: FlagCases = {
  ...checking,
  ...shaped,
  ...allowing(upload),
  ...printing,
  ...guarding,
  "--drop-access": [
    shaped["--drop-access"] ?? [],
    {
      args: `- ${pair}`,
      stdin: line.replace('{"id"', '{"private":true,"id"'),
      flag: "--drop-access",
      codes: [10, 0],
      requests: { gains: /"document"/ },
    },
  ].flat() as Case[],
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
    stderr: { gains: /stopped after 1 failed document/ },
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
  "--checksum": { tested: "test/e2e/ingest/unchanged.test.ts" },
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

/** `ingest` and its subcommands: flag by flag. */
export const ingest: Coverage = {
  ingest: withStdin(run),
  ...showingCases,
  ...retryCases,
  ...orphanCases,
};
