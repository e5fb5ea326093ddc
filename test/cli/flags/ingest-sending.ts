import type { FlagCases, Setting } from "./case.ts";

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
    "--report": [
      { ...setting, args, flag: "--report r.json", left: { gains: /r\.json: [^]*"counts"/ } },
      {
        ...setting,
        args: `${args} --dry-run`,
        flag: "--report r.json",
        ...planned(/"dryRun": ?true/),
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
