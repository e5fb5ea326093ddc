// Kills commands that write, at random moments, and looks at what the next run makes of it.
import { inParallel, randomOf, shuffled } from "./program.js";
import { heal, makeWorld, scenarios } from "./scenarios.js";
import { runTraced, savingPlaces, traceProblem } from "./trace.js";

const names = Object.entries(scenarios).flatMap(([name, { weight }]) => Array(weight).fill(name));
const wanted = 1000;

/** Runs a command and kills it: at a moment of its usual time, or shortly after a request. */
async function killOnce(world, args, usualMs) {
  const { random } = world;
  const atRequest = random() < 0.5 ? 1 + Math.floor(random() * 12) : undefined;
  const afterMs = atRequest === undefined ? (0.2 + 0.9 * random()) * usualMs : random() * 6;
  let child;
  let count = 0;
  const kill = () => child?.kill("SIGKILL");
  world.onRequest = () => {
    if (++count === atRequest) setTimeout(kill, afterMs);
  };
  let timer;
  const begun = performance.now();
  const ran = await world.run(args, {
    onStart(started) {
      child = started;
      if (atRequest === undefined) timer = setTimeout(kill, afterMs);
    },
  });
  clearTimeout(timer);
  world.onRequest = () => {};
  return { wasKilled: ran.signal === "SIGKILL", ms: performance.now() - begun };
}

/** Kills at each system call that saves, in a random order, until all were or the time is over. */
async function killAtCalls({ seconds, seed }) {
  const random = randomOf(seed);
  const lists = await Promise.all(
    Object.keys(scenarios).map(async (name) =>
      (await savingPlaces(name, random)).map(({ call, at }) => ({
        name,
        inject: `${call}:signal=SIGKILL:when=${at}`,
      })),
    ),
  );
  const cases = shuffled(lists.flat(), random);
  const violated = [];
  let killed = 0;
  let world;
  const done = await inParallel(cases, { seconds, workers: 1 }, async ({ name, inject }) => {
    world ??= await makeWorld(random);
    const ran = await runTraced(world, await scenarios[name].prepare(world), inject);
    if (ran.signal === "SIGKILL") killed++;
    const problem = await heal(world, scenarios[name]).catch((error) => error.stack);
    if (problem === undefined) return;
    const replay = `npm run prove -- kill --seed ${seed}`;
    violated.push({ what: `${name}, killed at ${inject}: ${problem}`, replay });
    world.close();
    world = undefined;
  });
  world?.close();
  return {
    tried: `${killed} kills at ${done} of ${cases.length} system calls that save`,
    violated,
  };
}

/** Kills at random moments, and a third of the time at system calls. */
export async function killPart({ seconds, ...options }) {
  const missing = traceProblem();
  const random = await killAtRandom({ seconds: missing ? seconds : (seconds * 2) / 3, ...options });
  const atCalls = missing
    ? { tried: `no kills at system calls: ${missing}`, violated: [] }
    : await killAtCalls({ seconds: seconds / 3, ...options });
  return {
    tried: [random.tried, atCalls.tried],
    held: [
      "nothing was lost, nothing was recorded that the service does not hold, no file was torn",
      "the next run went on by itself, sent nothing twice after that, and left no temporary file",
    ],
    violated: [...random.violated, ...atCalls.violated],
  };
}

/** Kills until there are enough or the time is over. */
async function killAtRandom({ seconds, seed, kills = String(wanted) }) {
  const most = Number(kills);
  const counts = new Map();
  const violated = [];
  const usual = new Map();
  let begun = 0;
  const play = async (world, name) => {
    const scenario = scenarios[name];
    const args = await scenario.prepare(world);
    const { wasKilled, ms } = await killOnce(world, args, usual.get(name) ?? 400);
    if (wasKilled) counts.set(name, (counts.get(name) ?? 0) + 1);
    else usual.set(name, ms);
    return await heal(world, scenario);
  };
  const worker = async (_item, at) => {
    const random = randomOf(Number(seed) + at);
    let world = await makeWorld(random);
    const end = performance.now() + seconds * 1000;
    const total = () => [...counts.values()].reduce((sum, each) => sum + each, 0);
    while (total() < most && performance.now() < end && violated.length < 5) {
      begun++;
      const name = names[Math.floor(random() * names.length)];
      const problem = await play(world, name).catch((error) => error.stack);
      if (problem === undefined) continue;
      violated.push({
        what: `${name}: ${problem}`,
        replay: `npm run prove -- kill --seed ${seed} (moments differ from run to run)`,
      });
      world.close();
      world = await makeWorld(random);
    }
    world.close();
  };
  await inParallel([1, 2, 3], { seconds, workers: 3 }, worker);
  const all = [...counts].map(([name, count]) => `${count} of ${name}`).toSorted();
  const total = [...counts.values()].reduce((sum, each) => sum + each, 0);
  const tried = `${total} kills of ${most} (${all.join(", ")}); ${begun - total} commands ended before`;
  return { tried, violated };
}
