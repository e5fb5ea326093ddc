import { rmSync } from "node:fs";
import { join } from "node:path";
import { runOnce } from "./pair.js";
import { startThrottlingReceiver } from "./service.js";

/** One run of a command against a new service; seconds, and the share of answers that were 429. */
async function measure(folder, mode, toSubject) {
  const service = await startThrottlingReceiver(folder, mode);
  let counts = { uploads: 1, refusals: 0 };
  service.onLine((line) => (counts = JSON.parse(line)));
  let ms;
  try {
    ({ ms } = runOnce(toSubject(service)));
  } finally {
    await service.stop();
  }
  const { uploads, refusals } = counts;
  return `${(ms / 1000).toFixed(1)} s, ${((100 * refusals) / uploads).toFixed(0)} % refused`;
}

const cases = [
  { mode: "none", files: 1000, text: "1,000 documents without faults" },
  { mode: "tenth", files: 1000, text: "every tenth 429: at most 25 s (aim 8)" },
  { mode: "100", files: 1500, text: "bucket of 100/s that holds 100: at most 17.5 s (aim 14.7)" },
  { mode: "20", files: 1500, text: "bucket of 100/s that holds 20: at most 18.5 s (aim 15.6)" },
];

/** Services that throttle, in comparison with `xargs -P16 curl --retry`. */
export const throttledRow = {
  name: "throttled",
  async run({ binary, corpora, folder }) {
    const lines = [];
    for (const { mode, files, text } of cases) {
      const cwd = corpora({ files, folders: 10, bytes: 4096 });
      const state = join(folder, "state-of-throttled");
      const tool = ({ env }) => ({
        args: [binary, "ingest", ".", "--cc-pair-id", "2", "--state", state, "--quiet"],
        cwd,
        env,
        before: () => rmSync(state, { recursive: true, force: true }),
      });
      const curl = `curl --silent --fail --retry 20 --output /dev/null --data-binary @{}`;
      const xargs = ({ url }) => ({
        command: "sh",
        args: ["-c", `find . -name '*.md' | xargs -P16 -I{} ${curl} ${url}/api/svc-api/ingestion`],
        cwd,
      });
      const [subject, against] = [
        await measure(folder, mode, tool),
        await measure(folder, mode, xargs),
      ];
      lines.push(`${text}: ${subject}; xargs and curl ${against}`);
    }
    return lines.join("\n");
  },
};
