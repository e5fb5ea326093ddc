import type { Coverage, Setting } from "./case.ts";
import { byName, byPair, pair, two } from "./ingest-sending.ts";

const onyx = { dialect: "onyx" } as const;
const sent: Setting = { ...onyx, files: two, first: [`ingest docs ${pair}`] };
/** A file that was never sent. */
const added: Setting = { ...sent, edits: { "docs/new.md": "# New\n\ntext\n" } };
const args = `docs ${pair}`;

/** `drift`: flag by flag. */
export const driftCases: Coverage = {
  drift: {
    "--include": { ...added, args, flag: "--include docs/a.md", stdout: { loses: /docs\/new/ } },
    "--exclude": { ...added, args, flag: "--exclude docs/new.md", stdout: { loses: /docs\/new/ } },
    "--no-ignore": {
      ...added,
      edits: { ...added.edits, "docs/.gitignore": "new.md\n" },
      args,
      flag: "--no-ignore",
      stdout: { gains: /docs\/new\.md/ },
    },
    "--drafts": {
      ...added,
      edits: { "docs/new.md": "---\ndraft: true\n---\n# New\n" },
      args,
      flag: "--drafts",
      stdout: { gains: /docs\/new\.md/ },
    },
    "--format": [
      {
        ...onyx,
        files: { "notes.md": "---\nid: x\n---\n# N\n" },
        args: `notes.md ${pair} --json`,
        flag: "--format text",
        stdout: { gains: /"id":"notes\.md"/ },
      },
      { ...sent, args, flag: "--format markdown", refused: /docs is a folder/ },
    ],
    "--id-prefix": {
      ...added,
      args: `${args} --json`,
      flag: "--id-prefix kb/",
      stdout: { gains: /"id":"kb\/docs\/new\.md"/ },
    },
    "--map": {
      ...onyx,
      files: { "r.csv": "sku,name,notes\n1,Pen,blue\n" },
      args: `r.csv ${pair} --json`,
      flag: "--map id=sku,title=name,text=notes",
      codes: [10, 0],
      stdout: { gains: /"id":"1"/ },
    },
    "--cc-pair-id": {
      ...onyx,
      files: two,
      first: byPair,
      args: "docs",
      flag: pair,
      codes: [2, 0],
      stdout: { gains: /docs\/a\.md \(cc-pair 7\)/ },
    },
    "--connector": {
      ...onyx,
      files: two,
      first: byPair,
      args: "docs",
      flag: byName,
      codes: [2, 0],
      stdout: { gains: /docs\/a\.md \(cc-pair 7\)/ },
    },
    "--state": {
      ...onyx,
      files: two,
      first: ["ingest docs --cc-pair-id 7 --state other --overwrite"],
      args,
      flag: "--state other",
      stdout: { gains: /elsewhere: 2 documents/ },
    },
    "--exit-code": { ...added, args, flag: "--exit-code", codes: [0, 12] },
  },
};
