import { runTests } from "./vitest.js";

/** Plays random sequences of commands in each dialect: test/model. */
export async function modelPart({ seconds, seed, sequences = "1000000", shrink = "60", dialect }) {
  const { text, failed } = await runTests(["test/model", "--disable-console-intercept"], {
    PROVE_SECONDS: String(seconds),
    PROVE_SEQUENCES: sequences,
    PROVE_SEED: String(seed),
    PROVE_SHRINK: shrink,
    ...(dialect === undefined ? {} : { PROVE_DIALECT: dialect }),
  });
  const [, played] = /^(\d+) sequences, \d+ violations$/m.exec(text) ?? [];
  const [steps] = /^\d+ [a-z].*, \d+ [a-z].*$/m.exec(text) ?? [];
  if (played === undefined) throw new Error(`the model did not end:\n${text.slice(-2000)}`);
  // What is violated is printed as a script; the test's own failure repeats it.
  const scripts = text.split(/^(?=seed \d+, (?:standard|onyx): )/m).slice(1);
  const violated = scripts.map((script) => {
    const [, own, name] = /^seed (\d+), (\w+)/.exec(script);
    const replay = `npm run prove -- model --seed ${own} --sequences 1 --dialect ${name}`;
    return { what: script.split(/^\d+ sequences/m)[0].trim(), replay };
  });
  if (failed.length > 0 && violated.length === 0) throw new Error(failed[0].text);
  return {
    tried: [`${played} sequences of commands in both dialects`, steps].filter(Boolean),
    held: ["the service holds what the folder and the state say, after each command"],
    violated,
  };
}
