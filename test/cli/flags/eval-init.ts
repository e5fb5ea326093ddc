import type { Coverage, Setting } from "./case.ts";

const docs: Setting = {
  files: { "docs/a.md": "# A\n\ntext\n", "docs/b.md": "# B\n\ntext\n" },
  args: "docs",
};

/** `eval init`: flag by flag. */
export const evalInit: Coverage = {
  "eval init": {
    "--state": { tested: "test/commands/files-in-state.test.ts" },
    "--from-sessions": [
      {
        ...docs,
        args: [],
        dialect: "onyx",
        first: ["chat hello"],
        flag: "--from-sessions",
        stdout: { gains: /# unanswered/ },
      },
      { ...docs, flag: "--from-sessions", refused: /--from-sessions/ },
    ],
    "--limit": { ...docs, flag: "--limit 1", stdout: { loses: /docs\/b\.md/ } },
    "--out": {
      ...docs,
      flag: "--out suite.yaml",
      stdout: { loses: /question/ },
      left: { gains: /suite\.yaml: # Drafted/ },
    },
  },
};
