import type { FlagCases, Setting, Coverage, Case } from "./play.ts";
import { allowing, choosing, folder, shaping, type Shows, shapingFlags } from "./mapping.ts";

// They need a database.
const shared = { tested: "test/commands/state/shared.test.ts" };
export const sharedFlags: FlagCases = { "--shared-state": shared, "--state-project": shared };
export const recordFlags: FlagCases = { ...sharedFlags, "--offline-state": shared };

export const pair = "--cc-pair-id 2";
export const byName = ["--connector", "Handbook uploads"];
export const two = { "docs/a.md": "# A\n\ntext a\n", "docs/b.md": "# B\n\ntext b\n" };
export const many = Object.fromEntries(
  Array.from({ length: 8 }, (_, index) => [`docs/${index}.md`, `# N ${index}\n\ntext\n`]),
);
export const broken = Object.fromEntries(
  Array.from({ length: 8 }, (_, index) => [
    `docs/${index}.md`,
    `---\nupdated: never\n---\n# N ${index}\n`,
  ]),
);

/** Documents of two targets. */
// Cases of one dialect share a service: another one may have sent these ids to another pair.
export const byPair = [
  "ingest docs/a.md --cc-pair-id 7 --overwrite",
  "ingest docs/b.md --cc-pair-id 2 --overwrite",
];

/** A command that is told how the run ended. */
export const tellsCommand = {
  flag: ["--notify", "cat > told.json"],
  left: { gains: /told\.json: .*"type":"notification"/ },
};

/**
 * The flags of a run that sends, with the documents of `setting`; `refused`: why its dry run writes no
 * report.
 */
export function sending(args: string, setting: Setting, refused?: RegExp): FlagCases {
  const planned = (left: RegExp) => (refused ? { refused } : { left: { gains: left } });
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
    "--price-per-million": [
      {
        ...setting,
        args: `${args} --dry-run`,
        flag: "--price-per-million 2.5",
        stderr: { gains: /costs about 0\.0\d+ \(estimate/ },
      },
      {
        ...setting,
        args: `${args} --dry-run --json`,
        flag: "--price-per-million 2.5",
        stdout: { gains: /"cost":0\.0\d+/ },
      },
      { ...setting, args, flag: "--price-per-million 1", refused: /--dry-run/ },
    ],
    "--report": [
      { ...setting, args, flag: "--report r.json", left: { gains: /r\.json: [^]*"counts"/ } },
      {
        ...setting,
        args: `${args} --dry-run`,
        flag: "--report r.json",
        ...planned(/"dryRun": ?true/),
      },
    ],
    "--notify": [
      { ...setting, args, ...tellsCommand },
      {
        ...setting,
        args: `${args} --dry-run`,
        flag: "--notify true",
        refused: /no result to report/,
      },
    ],
    "--gitlab-report": [
      { ...setting, args, flag: "--gitlab-report g.json", left: { gains: /g\.json: \[/ } },
      {
        ...setting,
        args: `${args} --dry-run`,
        flag: "--gitlab-report g.json",
        ...planned(/g\.json: \[/),
      },
    ],
  };
}

const explain: Shows = {
  in: "stdout",
  args: (file) => `${file} --json`,
  failedCode: 2,
  secretCode: 0,
};
const documents: Shows = { in: "stdout", args: (file) => file };

/** `ingest explain` and `ingest documents`: flag by flag. */
const showingCases: Coverage = {
  explain: {
    ...shaping(explain),
    ...allowing(explain),
    "--include": {
      files: folder,
      args: "docs/a.md --json",
      flag: "--include *.txt",
      stdout: { gains: /does not match --include/ },
    },
    "--exclude": {
      files: folder,
      args: "docs/a.md --json",
      flag: "--exclude docs/**",
      stdout: { gains: /matches exclude/ },
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
  convert: {
    ...shaping(documents),
    ...allowing(documents),
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
};

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

const watchTests = { tested: "test/commands/ingest/watch/watch.test.ts" };

/** A watch does not end by itself: here only what it refuses. */
const watched: FlagCases = {
  "--watch": [
    ...[
      "--dry-run",
      "--print-config",
      "--shard 1/2",
      "--since HEAD",
      "--claim",
      "--force",
      "--no-state",
    ].map((other): Case => ({
      files: two,
      args: `docs ${pair} ${other}`,
      flag: "--watch",
      refused: new RegExp(`${other.split(" ")[0]} and --watch exclude each other`),
    })),
    { args: `- ${pair}`, stdin: line, flag: "--watch", refused: /--watch watches files/ },
    { files: two, args: `docs ${pair} --json`, flag: "--watch", refused: /--output ndjson/ },
    watchTests,
  ],
  "--every": [
    { files: two, args: `docs ${pair}`, flag: "--every 1h", refused: /without --watch/ },
    watchTests,
  ],
  "--settle": [
    { files: two, args: `docs ${pair}`, flag: "--settle 1s", refused: /without --watch/ },
    watchTests,
  ],
  "--prune": [
    { files: two, args: `docs ${pair}`, flag: "--prune", refused: /without --watch/ },
    watchTests,
  ],
  "--tombstone": [
    { files: two, args: `docs ${pair}`, flag: "--tombstone", refused: /without --prune/ },
    watchTests,
  ],
};

const run: FlagCases = {
  ...watched,
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
  ...recordFlags,
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
  "--checksum": { tested: "test/e2e/ingest/threads.test.ts" },
  "--claim": { tested: "test/commands/ingest/claim.test.ts" },
  "--run": { tested: "test/commands/ingest/claim.test.ts" },
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
};
