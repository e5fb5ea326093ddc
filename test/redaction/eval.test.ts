import { join } from "node:path";
import * as fc from "../property.ts";
import { describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { serve } from "../commands/doctor/support.ts";
import { writeFiles } from "../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../support.ts";
import { everythingIn } from "./files.ts";
import { anySpelling, key, leakIn, writtenAs, type Spelling } from "./key.ts";

/** What the service, the judge and the suite say, as values of JSON; `@` stands for the key. */
interface World {
  /** Documents of a search, or the whole response with another status. */
  documents?: object[];
  refusal?: object;
  answer?: string;
  /** Text of the judge's reply. */
  judged?: string;
  /** Members of the case. */
  of?: object;
}

const document = (text: string): object => ({
  document_id: text,
  semantic_identifier: text,
  link: `https://docs.example.com/${text}`,
  blurb: text,
  match_highlights: [text],
  source_type: text,
  updated_at: null,
});
const rubric = { judge: { rubric: "names a number", threshold: 0.5 } };

type Place = readonly [
  name: string,
  command: "retrieval" | "answers",
  cut: number,
  worldOf: (text: string) => World,
];

/** Where the key may stand, and after how many characters the text is cut there. */
const places: readonly Place[] = [
  ["documents", "retrieval", 60, (text) => ({ documents: [document(text)] })],
  ["snippet", "retrieval", 240, (text) => ({ documents: [document(text)] })],
  ["refusal", "retrieval", 500, (detail) => ({ refusal: { detail } })],
  ["error of a search", "retrieval", 500, (error) => ({ refusal: { search_docs: [], error } })],
  ["question", "retrieval", 60, (question) => ({ of: { question } })],
  ["wanted id", "retrieval", 60, (id) => ({ of: { must_retrieve: [{ id }] } })],
  [
    "unwanted link",
    "retrieval",
    60,
    (text) => ({ of: { must_not_retrieve: [{ link: `https://x.example/${text}` }] } }),
  ],
  ["group", "retrieval", 60, (group) => ({ of: { group } })],
  ["answer", "answers", 60, (answer) => ({ answer })],
  ["cited documents", "answers", 60, (text) => ({ documents: [document(text)] })],
  ["expected text", "answers", 60, (text) => ({ of: { expect: [{ contains: text }] } })],
  ["expected texts", "answers", 60, (text) => ({ of: { expect: [{ "contains-all": [text] }] } })],
  ["answer that is no JSON", "answers", 60, (answer) => ({ answer, of: { expect: ["is-json"] } })],
  ["reply of the judge", "answers", 80, (judged) => ({ judged, of: { expect: [rubric] } })],
  [
    "reason of the judge",
    "answers",
    500,
    (reason) => ({ judged: JSON.stringify({ score: 0, reason }), of: { expect: [rubric] } }),
  ],
];

const placement = { turn_index: 1, tab_index: 0, sub_turn_index: null, model_index: 0 };

function streamOf({ answer = "The end.", documents = [] }: World): string {
  const packets = [
    { type: "message_start", final_documents: documents },
    { type: "message_delta", content: answer },
    { type: "stop" },
  ];
  return packets.map((obj) => `${JSON.stringify({ placement, obj })}\n`).join("");
}

/** Status and body of a response. */
function responseTo(path: string, world: World): [status: number, body: string] {
  if (path.includes("completions")) {
    const message = { role: "assistant", content: world.judged ?? "" };
    return [200, JSON.stringify({ choices: [{ message }] })];
  }
  if (!path.includes("search")) return [200, streamOf(world)];
  const { refusal, documents = [] } = world;
  return [
    refusal && "detail" in refusal ? 400 : 200,
    JSON.stringify(refusal ?? { search_docs: documents }),
  ];
}

const outputs: readonly (readonly string[])[] = [
  [],
  ["--verbose"],
  ["--output", "json"],
  ["--output", "ndjson"],
  ["--jq", ".cases"],
  ["--debug"],
  ["r.json", "r.xml", "r.html"].flatMap((name) => ["--report", `results/${name}`]),
  ["--record", "results/taken"],
];

interface Case {
  spelling: Spelling;
  place: Place;
  offset: number;
  output: readonly string[];
  /** Whether the judge's own key is the one that must not show. */
  isJudges: boolean;
  isTTY: boolean;
  columns: number;
}

const anyCase = fc.record<Case>({
  spelling: anySpelling,
  place: fc.constantFrom(...places),
  // Around the cut, where the key is cut in two.
  offset: fc.integer({ min: -60, max: 2 }),
  output: fc.constantFrom(...outputs),
  isJudges: fc.boolean(),
  isTTY: fc.boolean(),
  columns: fc.constantFrom(20, 40, 80, 200),
});

const otherKey = "another-key-of-this-run";

describe("eval", () => {
  it("never shows a key, wherever service, judge and suite hold it and however it is cut", async () => {
    let respond: (path: string) => [number, string] = () => [500, ""];
    const { url } = await serve((request, response) => {
      const [status, body] = respond(request.url ?? "");
      const type = body.startsWith('{"placement') ? "text/event-stream" : "application/json";
      response.writeHead(status, { "content-type": type }).end(body);
    });
    const show = async (given: Case): Promise<string> => {
      const { spelling, place, offset, output, isTTY, columns } = given;
      const [, command, cut, worldOf] = place;
      const world = worldOf(`${"x".repeat(Math.max(0, cut + offset))}@ y`);
      // The spelling with escapes stands in the JSON as it is.
      const written = writtenAs(spelling);
      const fill = (json: string): string => json.replaceAll("@", written);
      respond = (path) => {
        const [status, body] = responseTo(path, world);
        return [status, fill(body)];
      };
      const usesJudge = world.judged !== undefined;
      const judge = { base_url: `${url}/v1`, model: "m", key_variable: "JUDGE_KEY" };
      const one = { id: "a", question: "Who?", must_retrieve: [{ id: "b" }], ...world.of };
      const suite = { version: 1, ...(usesJudge ? { judge } : {}), cases: [one] };
      const cwd = temporaryFolder();
      writeFiles(cwd, { ".cliconfig.json": "{}", "suite.json": fill(JSON.stringify(suite)) });
      const results = join(cwd, "results");
      writeFiles(results, { "summary.md": "" });
      const isJudges = usesJudge && given.isJudges;
      const env = cleanEnvironment(cwd, {
        KNOWCTL_BASE_URL: url,
        KNOWCTL_API_KEY: isJudges ? otherKey : key,
        JUDGE_KEY: isJudges ? key : otherKey,
        KNOWCTL_DIALECT: command === "retrieval" ? "onyx" : "standard",
        GITHUB_ACTIONS: "true",
        GITHUB_STEP_SUMMARY: join(results, "summary.md"),
      });
      const context = createTestContext({ cwd, env, isTTY, columns });
      const args = ["eval", command, "suite.json", "--allow-tokens", "9", ...output];
      if (command === "retrieval") args.push("--via", "indexed");
      if (usesJudge) args.push("--judge");
      await main(args, context);
      return context.stdoutText() + context.stderrText() + everythingIn(results);
    };
    const hidden = new Set<string>();
    await fc.assert(
      fc.asyncProperty(anyCase, async (given) => {
        const shown = await show(given);
        if (shown.includes("***")) hidden.add(given.place[1]);
        expect(leakIn(shown), shown).toBeUndefined();
      }),
      fc.few(20),
    );
    // The key was there to be hidden.
    expect([...hidden].toSorted()).toEqual(["answers", "retrieval"]);
  });
});
