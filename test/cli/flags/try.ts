import type { Coverage, Setting } from "./case.ts";

const files = { "docs/a.md": "# A\n\n## Part\n\ntext\n" };
const docs: Setting = { files, args: "docs" };

/** `try`: flag by flag. */
export const tryCases: Coverage = {
  try: {
    "--keep": { ...docs, flag: "--keep", stderr: { gains: /sandbox --data/ } },
  },
};
