// What the commands that check and upload write, in every form: the transcripts are test/golden/reports/.
// `npx vitest run test/golden/reports.test.ts -u` writes them again; the diff shows what changed.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inGithub, reportsAs, startPlayed, type Played } from "./played.ts";
import type { TestServiceOptions } from "../service.ts";

interface Scenario {
  service?: TestServiceOptions;
  play(played: Played): Promise<void>;
}

const every = reportsAs("json", "xml", "html", "prom");

/** A name and texts from outside that must stay text in every form. */
const hostileName = "docs/<b> &\u001b[31m x|y.md";
const hostileText = "<script>alert(1)</script> | ::error::x ##[error]y \u001b]0;t\u0007";

const lintFiles = {
  "docs/good.md": "# Good\n\nThe handbook says how many days of leave a person has.\n",
  "docs/leave.md":
    "# Leave\n\nSee [the table](table.md) of days, and [the form](../forms/leave.md) too.\n\n#### Deep\n\nEach person has 28 days of leave a year, as the contract says.\n",
  "docs/hidden.md": "# Hidden\n\nThe rule\u200b of the house\u202e is kept by everybody who works here.\n",
  "docs/old.md": "# Old\n\nSee [the plan](plan.md) of the old house, which nobody uses today.\n",
  "docs/latin.md": new Uint8Array([0x23, 0x20, 0xe9, 0xff, 0xfe, 0x0a]),
  [hostileName]: `# ${hostileText}\n\nSee [it](<a b>.md) and [that](no%7Cfile.md?${"x".repeat(600)}) of the house.\n`,
};
const rules = ["dead-link", "skipped-level", "invisible-characters", "bidi-controls"]
  .map((name) => `--rule ${name}`)
  .join(" ");

const pages = (count: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `docs/${index}.md`,
      `# Page ${index}\n\nThe rule number ${index * 7} says that code W${index}X${index * 13} applies.\n`,
    ]),
  );

const handbook = {
  "docs/leave.md":
    "---\nlink: https://docs.example.com/leave\n---\n# Leave\n\nGeneral words.\n\n## Days\n\nStaff take 28 days of leave a year.\n",
  "docs/bikes.md": "# Bikes\n\nLeave the key of the bikes at the desk.\n",
  "docs/lunch.md": "# Lunch\n\nThe canteen serves lunch at noon.\n",
  "docs/board.md": `# Board ${hostileText}\n\nThe board meets about the secret plan on Monday.\n`,
};

const suite = (first: string): string => `version: 1
defaults: { k: 1 }
cases:
  - id: leave
    group: people
    question: days of leave a year
    must_retrieve: [${first}]
  - id: lunch
    group: people
    question: when is lunch in the canteen
    must_retrieve: [docs/lunch.md]
  - id: days
    question: key of the bikes
    must_retrieve: [{ link: "https://docs.example.com/leave#days" }]
  - id: board
    group: "<b>|board"
    question: secret plan of the board on Monday
    must_not_retrieve: [docs/board.md]
  - id: draft
    question: not yet
    must_retrieve: [docs/lunch.md]
    review: true
`;

const answers = `version: 1
cases:
  - id: days
    group: people
    question: How many days of leave?
    must_retrieve: [docs/leave.md]
    expect: [{ contains: 28 days }, { cites: docs/leave.md }, answered]
  - id: wrong
    question: When is lunch?
    expect: [{ contains: midnight }, { cites: docs/board.md }, { icontains: "<b>dinner|" }]
    repeat: 2
`;

const uploadFiles = {
  "docs/new.md": "# New\n\nText.\n",
  "docs/changed.md": "# Changed\n\nFirst.\n",
  "docs/same.md": "# Same\n\nText.\n",
  "docs/refused.md": "# Refused\n\nText.\n",
  "docs/broken.md": "---\ntitle: [unclosed\n---\ntext\n",
  "docs/empty.md": "",
  "docs/image.png": "png",
  "docs/old-name.md": "# Renamed\n\nThe text of a file that gets another name later.\n",
  "docs/access.md": "---\nvisibility: private\n---\n# Access\n\nText.\n",
  [hostileName]: `# ${hostileText}\n\nText.\n`,
  "docs/rows.csv": `id,title,text\nr1,One,hello\nr2,"${hostileText.replaceAll('"', '""')}",hello\n`,
};

const refusals: TestServiceOptions["faults"] = {
  rules: [
    {
      when: { documentId: "docs/refused.md" },
      do: { status: 422, body: { detail: `no: ${hostileText}` } },
    },
    { when: { documentId: "r2" }, do: { status: 400, body: { detail: "bad row" } } },
    { when: { documentId: hostileName }, do: { status: 500, body: { detail: "down" } } },
  ],
};

const upload = "ingest docs --cc-pair-id 2 --concurrency 1";

async function startUpload(played: Played): Promise<void> {
  await played.run(`${upload} --include docs/{changed,same,old-name}.md`);
  rmSync(join(played.folder, "docs/old-name.md"));
  played.write({
    "docs/changed.md": "# Changed\n\nSecond.\n",
    "docs/new-name.md": uploadFiles["docs/old-name.md"],
  });
}

const scenarios: Readonly<Record<string, Scenario>> = {
  lint: {
    service: {
      files: { ...lintFiles, "../config/knowctl/config.yaml": "lint: { rules: { invisible-characters: error } }\n" },
    },
    async play({ play, run, write, folder, ...rest }) {
      await run(`lint docs/old.md ${rules} --baseline baseline.json --write-baseline`);
      const line = `lint docs ${rules} --baseline baseline.json`;
      await play(line);
      await play(line, { isTTY: true });
      for (const form of ["json", "ndjson", "junit", "sarif"]) await play(`${line} -o ${form}`);
      await play(`${line} --jq .summary`);
      await play(`${line} --max-warnings 0 --fields status,summary`);
      const reports = reportsAs("json", "sarif", "xml", "html", "prom");
      await play(`${line} ${reports.flags} --gitlab-report gitlab.json -q`, {
        writes: [...reports.writes, "gitlab.json"],
      });
      await play(`${line} --max-warnings 0 -q`, inGithub({ folder, ...rest }));
      write({ "docs/old.md": "# Old\n\nThe plan of the old house, which nobody uses today.\n" });
      await play(`${line} -q`);
      const clean = reportsAs("json", "sarif", "xml", "html");
      await play(`lint docs/good.md --rule dead-link ${clean.flags} --gitlab-report gitlab.json`, {
        ...inGithub({ folder, ...rest }),
        writes: [...clean.writes, "gitlab.json", "summary.md"],
      });
    },
  },
  verify: {
    service: {
      dialect: "onyx",
      files: { ...pages(5), [hostileName]: `# ${hostileText}\n\nThe code of this page is W9X9.\n` },
      faults: {
        rules: [
          { when: { documentId: "docs/1.md" }, do: { index: { keeps: "nothing" } } },
          { when: { documentId: "docs/2.md" }, do: { index: { keeps: "row" } } },
          { when: { documentId: "docs/3.md" }, do: { index: { hidden: true } } },
          { when: { documentId: "docs/4.md", nth: 2 }, do: { index: { keeps: "old" } } },
          { when: { documentId: hostileName }, do: { index: { keeps: "nothing" } } },
        ],
      },
    },
    async play({ play, run, write, folder, ...rest }) {
      await run("ingest docs --cc-pair-id 2 --concurrency 1");
      write({ "docs/4.md": "# Page 4\n\nThe rule is another one now: W4X4 applies.\n" });
      await run("ingest docs --cc-pair-id 2 --concurrency 1");
      const line = "verify --cc-pair-id 2 --concurrency 1";
      await play(line);
      await play(`${line} -v`, { isTTY: true });
      for (const form of ["json", "ndjson"]) await play(`${line} -o ${form}`);
      await play(`${line} --jq .summary`);
      await play(`${line} --explain docs/1.md`);
      await play(`${line} ${every.flags} -q`, { writes: every.writes });
      await play(`${line} -q`, inGithub({ folder, ...rest }));
      write({ "docs/0.md": "# Page 0\n\nChanged after the upload.\n" });
      await play(`verify docs/0.md --cc-pair-id 2 ${every.flags}`, { writes: every.writes });
      await play(`verify docs/4.md --cc-pair-id 2 --depth exists ${every.flags}`, {
        writes: every.writes,
      });
    },
  },
  "eval-retrieval": {
    service: { dialect: "onyx", files: handbook },
    async play({ play, run, write, folder, ...rest }) {
      await run("ingest docs --cc-pair-id 2 --concurrency 1");
      write({ "suite.yaml": suite("docs/leave.md") });
      await run("eval retrieval suite.yaml --concurrency 1 --report before.json");
      write({ "suite.yaml": suite("docs/lunch.md") });
      const once = "eval retrieval suite.yaml --concurrency 1";
      await play(`${once} --baseline before.json`);
      write({ "suite.yaml": suite("docs/leave.md"), "docs/leave.md": "# Leave\n\nNothing.\n" });
      await run("ingest docs --cc-pair-id 2 --concurrency 1");
      const line = `${once} --baseline before.json`;
      await play(line);
      await play(line, { isTTY: true });
      await play(`${line} -v`, { isTTY: true });
      for (const form of ["json", "ndjson"]) await play(`${line} -o ${form}`);
      await play(`${line} --fail-on worse --fields status,failOn`);
      await play(`${line} ${every.flags} -q`, { writes: every.writes });
      await play(`${line} -q`, inGithub({ folder, ...rest }));
      write({ "one.yaml": `version: 1\ncases: [{ id: a, question: lunch, must_retrieve: [docs/lunch.md] }]\n` });
      await play(`eval retrieval one.yaml ${every.flags}`, {
        ...inGithub({ folder, ...rest }),
        writes: [...every.writes, "summary.md"],
      });
    },
  },
  "eval-answers": {
    service: {
      dialect: "onyx",
      files: { ...handbook, "suite.yaml": answers },
      faults: {
        rules: [{ when: { path: "/api/chat/send-chat-message", nth: 3 }, do: { status: 500 } }],
      },
    },
    async play({ play, run, folder, ...rest }) {
      await run("ingest docs --cc-pair-id 2 --concurrency 1");
      const line = "eval answers suite.yaml --concurrency 1 --allow-tokens 9";
      await run(`${line} --record recorded`);
      const again = "eval answers suite.yaml --replay recorded";
      await play(again);
      await play(again, { isTTY: true });
      for (const form of ["json", "ndjson"]) await play(`${again} -o ${form}`);
      await play(`${again} ${every.flags} -q`, { writes: every.writes });
      await play(`${again} -q`, inGithub({ folder, ...rest }));
      await play("eval answers suite.yaml --concurrency 1 --allow-tokens 1 --report out.xml", {
        writes: ["out.xml"],
      });
    },
  },
  status: {
    service: { dialect: "onyx", files: uploadFiles, faults: refusals },
    async play(played) {
      const { play, run } = played;
      await startUpload(played);
      await run(`${upload} --include docs/refused.md`);
      const line = "status --cc-pair-id 2";
      await play(line);
      await play(line, { isTTY: true });
      for (const form of ["json", "ndjson"]) await play(`${line} -o ${form}`);
      await play(`${line} --jq .summary --exit-code`);
      await play(`${line} --remote`);
      for (const form of ["json", "ndjson"]) await play(`${line} --remote -o ${form}`);
    },
  },
  ingest: {
    service: { files: uploadFiles, faults: refusals },
    async play(played) {
      const { play, write } = played;
      await startUpload(played);
      const again = (): void =>
        write({
          "docs/changed.md": `# Changed\n\nAgain ${++count}.\n`,
          "docs/new.md": `# New\n\nAgain ${count}.\n`,
        });
      let count = 0;
      await play(upload);
      await play(`${upload} --force`, { isTTY: true });
      for (const form of ["json", "ndjson"]) {
        again();
        await play(`${upload} -o ${form}`);
      }
      again();
      await play(`${upload} -q ${every.flags} --gitlab-report gitlab.json`, {
        writes: [...every.writes, "gitlab.json"],
      });
      again();
      await play(`${upload} -q`, inGithub(played));
      await play(`ingest docs/same.md --cc-pair-id 2 ${every.flags} --gitlab-report gitlab.json`, {
        ...inGithub(played),
        writes: [...every.writes, "gitlab.json", "summary.md"],
      });
      await play("ingest - --cc-pair-id 2 -o ndjson", {
        stdin: '{"id":"s1","title":"S","sections":[{"text":"Text."}]}\n{"id":"s2"}\n',
      });
      await play(`ingest docs/same.md --cc-pair-id 9 ${every.flags}`, { writes: every.writes });
    },
  },
  "ingest-stopped": {
    service: {
      files: pages(4),
      faults: { rules: [{ when: { documentId: "docs/2.md" }, do: { status: 401 } }] },
    },
    async play(played) {
      await played.play(`${upload} ${every.flags}`, {
        ...inGithub(played),
        writes: [...every.writes, "summary.md"],
      });
    },
  },
  "ingest-verify": {
    service: {
      dialect: "onyx",
      files: pages(3),
      faults: {
        rules: [{ when: { documentId: "docs/1.md" }, do: { index: { keeps: "nothing" } } }],
      },
    },
    async play(played) {
      await played.play(
        `${upload} --verify --wait 1s ${every.flags} --gitlab-report gitlab.json -o ndjson`,
        { ...inGithub(played), writes: [...every.writes, "gitlab.json", "summary.md"] },
      );
    },
  },
  "ingest-dry-run": {
    service: { files: uploadFiles, faults: refusals },
    async play(played) {
      const { play } = played;
      await startUpload(played);
      const line = `${upload} --dry-run`;
      await play(line);
      await play(line, { isTTY: true });
      for (const form of ["json", "ndjson"]) await play(`${line} -o ${form}`);
      await play(`${line} -q ${every.flags} --gitlab-report gitlab.json`, {
        ...inGithub(played),
        writes: [...every.writes, "gitlab.json", "summary.md"],
      });
    },
  },
  prune: {
    service: { dialect: "onyx", files: pages(6) },
    async play({ play, run, folder }) {
      await run("ingest docs --cc-pair-id 2 --concurrency 1");
      for (const name of [1, 2]) rmSync(join(folder, `docs/${name}.md`));
      const line = "prune --cc-pair-id 2 --concurrency 1 --max-delete 2";
      await play(`${line} --dry-run`);
      await play(`${line} --dry-run`, { isTTY: true });
      for (const form of ["table", "json", "ndjson"]) await play(`${line} --dry-run -o ${form}`);
      await play(`${line} --yes -o json`);
      rmSync(join(folder, "docs/3.md"));
      await play(`${line} --yes`);
      await play(`${line} --yes`);
    },
  },
  retry: {
    service: {
      files: pages(4),
      faults: {
        rules: [
          { when: { documentId: "docs/1.md", first: 1 }, do: { status: 422 } },
          { when: { documentId: "docs/2.md" }, do: { status: 422, body: { detail: "no" } } },
        ],
      },
    },
    async play(played) {
      const { play, run } = played;
      await run(`${upload} --report first.json`);
      await play("retry --dry-run");
      await play("retry first.json --dry-run -o json");
      await play(`retry first.json ${every.flags} --gitlab-report gitlab.json`, {
        ...inGithub(played),
        writes: [...every.writes, "gitlab.json", "summary.md"],
      });
      for (const form of ["json", "ndjson"]) await play(`retry -o ${form}`);
    },
  },
  "report-merge": {
    service: { files: { ...pages(6), "docs/broken.md": uploadFiles["docs/broken.md"] } },
    async play(played) {
      const { play, run } = played;
      await run(`${upload} --shard 1/3 --report 1.json`);
      await run(`${upload} --shard 3/3 --report 3.json`);
      await play("report merge 1.json 3.json");
      await play(`report merge 1.json 3.json --report out.xml`, { writes: ["out.xml"] });
      await play(`report merge 1.json 3.json --report out.html`, { writes: ["out.html"] });
      await play("report merge 1.json 3.json --jq .counts");
      await play("report merge 1.json 3.json -o yaml --fields status,counts");
    },
  },
  "report-summary": {
    service: { dialect: "onyx", files: { ...pages(3), "docs/dead.md": lintFiles["docs/old.md"] } },
    async play(played) {
      const { play, run, write } = played;
      write({
        "suite.yaml": `version: 1\ncases: [{ id: x, question: code W9X9, must_retrieve: [docs/2.md] }]\n`,
      });
      await run("lint docs --rule dead-link --report lint.json");
      await run(`${upload} --dry-run --report dry.json`);
      await run(`${upload} --report upload.json`);
      await run("verify --cc-pair-id 2 --report verify.json");
      await run("eval retrieval suite.yaml --k 1 --concurrency 1 --report eval.json");
      const line = "report summary lint.json dry.json upload.json verify.json eval.json none.json";
      await play(line, inGithub(played));
      await play(line, { isTTY: true });
      for (const form of ["json", "csv"]) await play(`${line} -o ${form}`);
    },
  },
  doctor: {
    service: { dialect: "onyx" },
    async play({ play }) {
      await play("doctor");
      await play("doctor -v", { env: { KNOWCTL_API_KEY: "wrong-key-of-doctor" } });
      // Not on a terminal, nor as a table: both break lines by the length of this machine's paths.
      for (const form of ["json", "ndjson"]) await play(`doctor -o ${form}`);
      await play("doctor --filter status=skipped --fields check,message,fix");
      await play("doctor -q --bundle out.txt", { writes: ["out.txt"] });
    },
  },
};

it.each(Object.entries(scenarios))("%s", async (name, { service = {}, play }) => {
  const played = await startPlayed(service);
  await play(played);
  await expect(played.text()).toMatchFileSnapshot(`reports/${name}.txt`);
});
