import type { Coverage } from "./case.ts";

const run = "ingest docs --cc-pair-id 2 --report r.json";

/** `report …`: flag by flag. */
export const report: Coverage = {
  "report summary": {},
  "report merge": {
    "--report": {
      files: { "docs/a.md": "# A\n\ntext\n" },
      first: [run],
      args: "r.json",
      flag: "--report m.xml",
      stdout: { loses: /"counts"/ },
      left: { gains: /m\.xml: <\?xml/ },
    },
  },
};
