import type { Coverage, Setting } from "./case.ts";

const found: Setting = {
  dialect: "onyx",
  files: {
    "docs/a.md": "---\nupdated: 2020-01-01\nteam: people\n---\n# A\n\nquokka\n",
    "docs/b.md": "# B\n\nquokka\n",
  },
  first: ["ingest docs --cc-pair-id 7 --overwrite"],
  args: "quokka --fields rank,path,via",
};

/** `search`, flag by flag. */
export const search: Coverage = {
  search: {
    "--state": { tested: "test/commands/files-in-state.test.ts" },
    "--limit": { ...found, flag: "--limit 1", stdout: { loses: /^2\t/m } },
    "--source-type": { ...found, flag: "--source-type web", stdout: { loses: /^1\t/m } },
    "--document-set": {
      ...found,
      flag: "--document-set none",
      codes: [0, 9],
      stderr: { gains: /access to document sets: \['none'\]/ },
    },
    "--filter-tag": {
      ...found,
      flag: "--filter-tag team=people",
      stdout: { loses: /docs\/b\.md/ },
    },
    "--since": [
      { ...found, flag: "--since 2026-01-31", stdout: { loses: /docs\/a\.md/ } },
      { ...found, flag: "--since soon", refused: /--since/ },
    ],
    "--via": { ...found, flag: "--via keyword", stdout: { gains: /keyword/ } },
    "--allow-tokens": [
      { ...found, args: "quokka --via chat", flag: "--allow-tokens 1", codes: [2, 0] },
      { ...found, args: "quokka --via assisted", flag: "--allow-tokens 14", refused: /too small/ },
    ],
  },
};
