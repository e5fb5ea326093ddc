import { proveCorpora } from "../corpora/corpora.js";

/** Compares the documents of folders with what other readers see; without folders, this project's own. */
export async function corporaPart({ folders = [], ...options }) {
  const said = [];
  const say = (line) => {
    if (options.json) console.error(line);
    else said.push(line);
  };
  const all = folders.length > 0 ? folders : ["docs"];
  const isGood = await proveCorpora(all, { ...options, say });
  const text = said.join("\n").trim();
  if (folders.length > 0) console.log(text);
  const lines = said.filter((line) => /^\w+: \d+ documents compared/.test(line));
  const lacks = said.filter((line) => line.includes("is not installed"));
  if (lines.every((line) => line.includes(": 0 documents compared")))
    return { skipped: `fewer than two other readers of documents: ${lacks.join("; ")}` };
  return {
    tried: [...lines, ...lacks],
    held: ["where two other readers agree on the words of a document, this tool has them too"],
    violated: isGood ? [] : [{ what: text, replay: `npm run prove -- corpora ${all.join(" ")}` }],
  };
}
