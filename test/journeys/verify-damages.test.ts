import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../src/sandbox/http/faults.ts";
import { startTestService, type TestService } from "../service.ts";
import { isProof } from "../property.ts";
import { runIn } from "../commands/state/support.ts";

// `KNOWCTL_TEST_RUNS=1 npx vitest run test/journeys/verify-damages` checks 10,000 documents.
const count = isProof ? 10_000 : 210;
const damagedCount = isProof ? 137 : 21;
const patience = isProof ? 3_600_000 : 60_000;

const sentence = (seed: number): string =>
  `Rule ${seed} says that the form F${(seed * 7919) % 10_007} needs ${seed % 31} days, see page ${seed % 97}. `;

/** A page of some chunks: headings, a table, code and paragraphs. */
function page(index: number, version: number): string {
  const paragraphs = Array.from({ length: 2 + (index % 9) }, (_, part) =>
    Array.from({ length: 6 }, (_, line) => sentence(index * 100 + part * 10 + line)).join(""),
  );
  return [
    `# Page ${index}`,
    ...paragraphs.map((text, part) => `## Part ${part}\n\n${text}`),
    `| key | value |\n| --- | --- |\n| days | ${index % 28} |`,
    "```sh\nknowctl verify\n```",
    `This is version ${version} of the page.`,
  ].join("\n\n");
}

const pathOf = (index: number): string => `docs/${index % 7}/${index}.md`;

/** Seven ways in which a document is not in the index as it was sent, and what verify says. */
const ways = [
  { name: "swallowed without a row", fault: { keeps: "nothing" }, text: "missing" },
  { name: "swallowed with a row", fault: { keeps: "row" }, text: "listed-only" },
  { name: "old version kept", text: "stale" },
  { name: "made private", fault: { private: true }, text: "hidden" },
  { name: "hidden by an administrator", fault: { hidden: true }, text: "hidden" },
  { name: "never indexed", fault: { delayMs: 1e12 }, text: "listed-only" },
  { name: "overwritten by somebody else", text: "stale" },
] as const;

const step = Math.floor(count / damagedCount);
const wayOf = new Map(
  Array.from({ length: damagedCount }, (_, each) => [each * step, ways[each % ways.length]!]),
);
const indexes = Array.from({ length: count }, (_, index) => index);
/** Not damaged, but looks so: the service's lists lack them. */
const unlisted = indexes.filter((index) => index % step === 1).slice(0, 20);

function rules(): FaultRule[] {
  const damages = [...wayOf].flatMap(([index, way]): FaultRule[] => {
    const documentId = pathOf(index);
    if ("fault" in way) return [{ when: { documentId }, do: { index: way.fault } }];
    if (way.name !== "old version kept") return [];
    return [{ when: { documentId, nth: 2 }, do: { index: { keeps: "old" } } }];
  });
  const others = unlisted.map((index): FaultRule => ({
    when: { documentId: pathOf(index) },
    do: { index: { unlisted: true } },
  }));
  return [...damages, ...others];
}

async function overwrite({ sandbox, env }: TestService, index: number): Promise<void> {
  const document = {
    id: pathOf(index),
    semantic_identifier: `Page ${index}`,
    sections: [{ text: page(index, 2).replace("needs", "takes") }],
    source: "file",
    metadata: {},
  };
  const response = await fetch(`${sandbox.url}/api/onyx-api/ingestion`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${env["KNOWCTL_API_KEY"]}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ document, cc_pair_id: 2 }),
  });
  expect(response.status).toBe(200);
}

async function damage(): Promise<TestService> {
  const files = Object.fromEntries(indexes.map((index) => [pathOf(index), page(index, 1)]));
  const service = await startTestService({ dialect: "onyx", files, faults: { rules: rules() } });
  const upload = "ingest docs --cc-pair-id 2 --concurrency 16 --quiet";
  expect((await runIn(service, upload)).code).toBe(0);
  // Some pages have a second version; one way of damage keeps the first.
  for (const index of indexes.filter((each) => each % step < 2)) {
    const way = wayOf.get(index)?.name;
    if (way !== undefined && way !== "old version kept" && way !== "overwritten by somebody else") {
      continue;
    }
    writeFileSync(join(service.folder, pathOf(index)), page(index, 2));
  }
  expect((await runIn(service, upload)).code).toBe(0);
  for (const [index, { name }] of wayOf) {
    if (name === "overwritten by somebody else") await overwrite(service, index);
  }
  await service.sandbox.idle();
  service.sandbox.ledger.requests.length = 0;
  return service;
}

interface Report {
  documents: { path: string; result: string; reason: string }[];
}

const resultsIn = (stdout: string): Map<string, string> =>
  new Map((JSON.parse(stdout) as Report).documents.map(({ path, result }) => [path, result]));

describe(`${count} documents, ${damagedCount} of them damaged in seven ways`, () => {
  it(
    "names every damaged one, none of the others, and what happened",
    async () => {
      const service = await damage();
      const { code, stdout, stderr } = await runIn(service, "verify --json --concurrency 16");
      const results = resultsIn(stdout);
      const expected = new Map(
        indexes.map((index) => [pathOf(index), wayOf.get(index)?.text ?? "current"]),
      );
      const wrong = [...expected].filter(([path, result]) => results.get(path) !== result);
      expect(wrong.map(([path, result]) => [path, result, results.get(path)])).toEqual([]);
      expect(results.size).toBe(count);
      expect(code).toBe(13);
      if (isProof) console.log(stderr, `${service.sandbox.ledger.requests.length} requests`); // oxlint-disable-line no-console

      service.sandbox.ledger.requests.length = 0;
      const exists = await runIn(service, "verify --json --depth exists --concurrency 16");
      const found = resultsIn(exists.stdout);
      for (const [index, { text }] of wayOf) {
        expect(found.get(pathOf(index))).toBe(text === "stale" ? "present" : text);
      }
      const absent = [...found.values()].filter((result) => result !== "present");
      expect(absent).toHaveLength(
        [...wayOf.values()].filter(({ text }) => text !== "stale").length,
      );
      const { length } = service.sandbox.ledger.requests;
      if (isProof) console.log(exists.stderr, `${length} requests`); // oxlint-disable-line no-console
      // 1 %, and in a small folder the lists and the searches that tell the causes apart.
      expect(length).toBeLessThanOrEqual(count + Math.max(count / 100, 25));
    },
    patience,
  );
});
