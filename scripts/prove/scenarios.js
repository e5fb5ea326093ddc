// Commands that write, for the parts that disturb them: what each does, and what must be so after the next run.
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { makePlace, runProgram } from "./program.js";
import { startServer } from "./server.js";

const total = 24;
const ingest = ["ingest", "docs", "--cc-pair-id", "2"];
const prune = ["prune", "--yes", "--max-delete", "100%"];

const textOf = (number, version) => `# Document ${number}\n\nText of version ${version}.\n`;
// A zero width space, which lint removes.
const dirty = (text) => text.replace("Text", "Te\u200bxt");

/**
 * A folder of documents, a service that got them once, and what is expected of both. `front` starts what
 * stands before the service, by its address: { url, close }.
 */
export async function makeWorld(random, front) {
  const world = { random, version: 0, files: new Map(), refused: new Set(), onRequest: () => {} };
  world.server = await startServer((request) => {
    world.onRequest();
    const id = request.body.startsWith("{") ? JSON.parse(request.body).document?.id : undefined;
    return world.refused.has(id)
      ? { status: 422, headers: {}, body: Buffer.from('{"detail":"not now"}') }
      : undefined;
  });
  world.front = await front?.(world.server.url);
  const { url } = world.front ?? world.server;
  world.place = makePlace({ url, dialect: "onyx", files: { "docs/0.md": "" } });
  for (let number = 0; number < total; number++) writeDocument(world, number);
  world.run = (args, options) => runProgram(args, world.place, options);
  world.close = () => {
    world.front?.close();
    world.server.close();
    world.place.remove();
  };
  const first = await world.run(ingest);
  if (first.code !== 0)
    throw new Error(`the first upload ended with ${first.code}: ${first.stderr}`);
  return world;
}

function writeDocument(world, number) {
  const path = `docs/${number}.md`;
  const text = textOf(number, ++world.version);
  writeFileSync(join(world.place.folder, path), text);
  world.files.set(path, text);
  return path;
}

function removeDocument(world, number) {
  const path = `docs/${number}.md`;
  rmSync(join(world.place.folder, path), { force: true });
  world.files.delete(path);
}

const someNumber = ({ random }) => Math.floor(random() * total);

/** Changes, adds and sometimes removes documents. Returns the paths that were written. */
function change(world) {
  const count = 3 + Math.floor(world.random() * 12);
  return Array.from({ length: count }, () => writeDocument(world, someNumber(world)));
}

/** What the service holds and the folder does not, and the other way round; undefined for nothing. */
function difference({ server, files }) {
  for (const [path, text] of files) {
    const held = server.documents.get(path)?.sections[0].text;
    const line = text.split("\n")[2];
    if (!held?.includes(line)) return `the service has "${held?.trim()}" of ${path}, not "${line}"`;
  }
  const extra = [...server.documents.keys()].find((id) => !files.has(id));
  return extra && `the service still has ${extra}`;
}

async function nothingToSend(world) {
  const before = world.server.requests.length;
  const again = await world.run(ingest);
  if (again.code !== 0) return `the next upload ended with ${again.code}: ${again.stderr}`;
  const sent = world.server.requests.slice(before).filter(({ method }) => method === "POST");
  return sent.length === 0 ? undefined : `${sent.length} documents were sent once more`;
}

/** The second question costs a run, and is not asked each time. */
const sameAsFolder = async (world) =>
  difference(world) ?? (world.random() < 0.25 ? await nothingToSend(world) : undefined);

const userFile = ({ place }) => join(place.home, "config", "knowctl", "config.json");

/**
 * A scenario: `prepare` changes the world and returns the arguments to disturb; `heal` are the
 * commands after it, with the exit codes that are right; `check` says what is wrong then. `save`
 * is the folder that the command writes, relative to the home.
 */
export const scenarios = {
  ingest: {
    weight: 4,
    save: "work/.knowctl",
    prepare(world) {
      change(world);
      return ingest;
    },
    heal: [[ingest, 0]],
    check: sameAsFolder,
  },
  retry: {
    weight: 2,
    save: "work/.knowctl",
    async prepare(world) {
      for (const path of change(world)) world.refused.add(path);
      await world.run(ingest);
      world.refused.clear();
      return ["retry"];
    },
    // Nothing failed where all were sent already.
    heal: [[["retry"], 0]],
    check: sameAsFolder,
  },
  prune: {
    weight: 2,
    save: "work/.knowctl",
    async prepare(world) {
      if (world.files.size < total / 2) {
        for (let number = 0; number < total; number++) writeDocument(world, number);
        await world.run(ingest);
      }
      for (let count = 0; count < 4; count++) removeDocument(world, someNumber(world));
      return prune;
    },
    heal: [[prune, 0]],
    check: sameAsFolder,
  },
  "state import": {
    weight: 2,
    save: "work/.knowctl",
    async prepare(world) {
      const { stdout } = await world.run(["state", "export"]);
      writeFileSync(join(world.place.home, "state.ndjson"), stdout);
      rmSync(join(world.place.folder, ".knowctl"), { recursive: true, force: true });
      return ["state", "import", "../state.ndjson", "--yes"];
    },
    heal: [[["state", "import", "../state.ndjson", "--yes"], 0]],
    check: sameAsFolder,
  },
  "lint --fix": {
    weight: 1,
    save: "work/docs",
    prepare(world) {
      world.lint = new Map([...world.files].filter(() => world.random() < 0.5).slice(0, 6));
      for (const [path, text] of world.lint) {
        writeFileSync(join(world.place.folder, path), dirty(text));
      }
      return ["lint", "docs", "--fix"];
    },
    between({ lint, place }) {
      for (const [path, text] of lint) {
        const found = readFileSync(join(place.folder, path), "utf8");
        if (found !== text && found !== dirty(text))
          return `${path} is neither old nor new: ${found}`;
      }
      return undefined;
    },
    heal: [
      [["lint", "docs", "--fix"], 0],
      [ingest, 0],
    ],
    check: sameAsFolder,
  },
  "config set": {
    weight: 1,
    save: "config/knowctl",
    prepare(world) {
      world.setting = { old: world.setting?.new, new: `team-${++world.version}` };
      return ["config", "set", "ingest.metadata.team", world.setting.new];
    },
    between(world) {
      if (!existsSync(userFile(world))) return undefined;
      const { ingest: { metadata } = {} } = JSON.parse(readFileSync(userFile(world), "utf8"));
      const { old, new: next } = world.setting;
      if ([old, next].includes(metadata?.team)) return undefined;
      return `the file says ${metadata?.team}, not ${old} or ${next}`;
    },
    get heal() {
      return [[["config", "set", "ingest.sections", "whole"], 0]];
    },
    check(world) {
      // Else later uploads would differ by it.
      rmSync(userFile(world), { force: true });
      world.setting = undefined;
      return undefined;
    },
  },
};

/** What no run leaves behind: files below the home beside documents, configuration and state. */
function leftovers({ place: { home }, files }) {
  const known = [
    /^work\/\.knowctl\/(?:state\.db|\.gitignore|results\.json)$/,
    /^config\/knowctl\/config\.json$/,
    /^state\//,
    /^state\.ndjson$/,
    /^\.cache\/knowctl\//,
  ];
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((each) => !each.isDirectory())
    .map((each) => relative(home, join(each.parentPath ?? each.path, each.name)))
    .filter((path) => !known.some((pattern) => pattern.test(path)))
    .filter((path) => !files.has(path.replace(/^work\//, "")));
}

/** Runs what comes after a disturbed command. Returns what is wrong then, or undefined. */
export async function heal(world, scenario) {
  const torn = scenario.between?.(world);
  if (torn) return torn;
  // A temporary file counts as abandoned after a minute: this makes it older.
  const anHourAgo = Date.now() / 1000 - 3600;
  for (const path of leftovers(world))
    utimesSync(join(world.place.home, path), anHourAgo, anHourAgo);
  for (const [args, right] of scenario.heal) {
    const ran = await world.run(args);
    if (ran.code === right) continue;
    return `${args.join(" ")} ended with ${ran.code ?? ran.signal} afterwards: ${ran.stderr}`;
  }
  const left = leftovers(world);
  if (left.length > 0) return `left behind: ${left.join(", ")}`;
  return await scenario.check(world);
}
