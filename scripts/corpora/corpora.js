// `npm run prove -- corpora FOLDER…`: reads real folders by this tool and by others, and lists the
// documents on which two others agree against this tool.
import { spawn } from "node:child_process";
import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import { projectFolder } from "../install.js";
import { countWords, judge, sentWords, sumOf, tolerated } from "./judge.js";
import { foreignReaders, formatOf } from "./readers.js";
import { anchorsOf, siteBase, siteReader } from "./site.js";

// A proof that finds nothing in documents of other files is none.
const leastControl = 0.9;

/** Writes what the tool would send of a folder into `file`, a document a line. */
async function readByTool(folder, scratch, file, flags) {
  const config = join(scratch, "config.json");
  // The path is the id of every document, so that file and document are compared.
  await writeFile(config, JSON.stringify({ ingest: { frontMatter: { id: ["id-of-no-page"] } } }));
  const args = ["convert", ".", "--root", ".", "--config", config, "--drafts", ...flags];
  const child = spawn(process.execPath, [join(projectFolder, "bin/knowctl.cjs"), ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const ended = new Promise((settle) => child.on("close", settle));
  await finished(child.stdout.pipe(createWriteStream(file)));
  return { status: await ended, said };
}

async function* linesOf(file) {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const parsed = JSON.parse(line);
    yield parsed.document ?? parsed;
  }
}

/** The pages by reader, in files: a folder of thousands fits into memory by one page at a time. */
function createPages(scratch) {
  const numbers = new Map();
  const numberOf = (path) => {
    if (!numbers.has(path)) numbers.set(path, numbers.size);
    return String(numbers.get(path));
  };
  return {
    /** Asks a reader; returns false where it is missing. */
    async fill(reader, folder, files) {
      mkdirSync(join(scratch, reader.name));
      try {
        for await (const { path, ...page } of reader.read(folder, files)) {
          await writeFile(join(scratch, reader.name, numberOf(path)), JSON.stringify(page));
        }
        return true;
      } catch (error) {
        if (error.message !== "missing") throw error;
        return false;
      }
    },
    /** `{ text }` or `{ problem }`. */
    async get(reader, path) {
      const file = join(scratch, reader.name, numberOf(path));
      return JSON.parse(await readFile(file, "utf8").catch(() => '{"problem":"no answer"}'));
    },
  };
}

/** Asks each reader that reads one of the files. Returns those that answered, and names the others. */
async function askReaders(folder, files, readers, pages, { say, named }) {
  const asked = [];
  for (const reader of readers) {
    const some = files.filter(({ format }) => reader.formats.includes(format));
    if (some.length === 0 || named.has(reader.name)) continue;
    if (await pages.fill(reader, folder, some)) asked.push(reader);
    else {
      named.add(reader.name);
      say(`${reader.name} is not installed (Debian: apt install ${reader.debian})`);
    }
  }
  return asked;
}

/** The most frequent words of a list. */
const shown = (counts) =>
  [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, 12)
    .map(([word, count]) => (count > 1 ? `${word} (${count})` : word))
    .join(" ");

/** The judgement of a document by the pages that were found of it. */
function judgeDocument(document, found, { site }, before) {
  const { id: path } = document;
  const texts = found.filter(({ text }) => text !== undefined);
  const base = { path, format: formatOf(path), readers: texts.map(({ name }) => name) };
  if (texts.length < 2 && !texts.some(({ decides }) => decides)) {
    const problems = found.filter(({ problem }) => problem);
    const why = problems.map(({ name, problem }) => `${name}: ${problem.split("\n")[0]}`);
    return { ...base, problem: ["needs two readers", ...why].join("; ") };
  }
  const pages = texts.flatMap(({ text, decides }) => Array(decides ? 2 : 1).fill(countWords(text)));
  const sent = sentWords(document);
  const control = before ? judge(sent, before).isFlagged : undefined;
  const anchors = site === undefined ? undefined : anchorsOf(site, document);
  return { ...base, ...judge(sent, pages), control, anchors, pages };
}

/** Reads and judges the documents of a folder. Calls `each` with the judgement of every document. */
async function judgeFolder(folder, scratch, { readers, tool, ...options }, each) {
  const file = join(scratch, "documents.ndjson");
  const read = await tool(folder, scratch, file, options.flags);
  const files = [];
  for await (const document of linesOf(file)) {
    const format = formatOf(document.id);
    // Only links are needed of a document that waits.
    const sections = document.sections.slice(0, 1).map(({ link }) => ({ link }));
    if (format) files.push({ path: document.id, format, document: { sections } });
  }
  const store = createPages(scratch);
  const asked = await askReaders(folder, files, readers, store, options);
  /** By format: the pages of the document before, for the control. */
  const before = new Map();
  for await (const document of linesOf(file)) {
    const format = formatOf(document.id);
    if (!format) continue;
    const ours = asked.filter((reader) => reader.formats.includes(format));
    const found = ours.map(async (reader) => ({
      ...reader,
      ...(await store.get(reader, document.id)),
    }));
    const { pages, ...result } = judgeDocument(
      document,
      await Promise.all(found),
      options,
      before.get(format),
    );
    if (pages) before.set(format, pages);
    each(result);
  }
  return read;
}

function reportFormat(format, all, most, say) {
  const judged = all.filter(({ problem }) => problem === undefined);
  const unjudged = all.filter(({ problem }) => problem !== undefined);
  const flagged = judged.filter(({ isFlagged }) => isFlagged);
  const controls = judged.filter(({ control }) => control !== undefined);
  const seen = controls.filter(({ control }) => control);
  const isProof = controls.length === 0 || seen.length >= leastControl * controls.length;
  const sum = (pick) => judged.reduce((total, each) => total + pick(each), 0);
  const percent = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;
  const lost = sum((each) => each.lostWords);
  const added = sum((each) => each.addedWords);
  say(
    `${format}: ${judged.length} documents compared, ${unjudged.length} not, ${flagged.length} flagged; ` +
      `${lost} words lost (${percent(
        lost,
        sum(({ words }) => words),
      )}), ${added} added (${percent(
        added,
        sum(({ sent }) => sent),
      )}); ` +
      `control: ${seen.length} of ${controls.length} flagged`,
  );
  const places = sum(({ anchors }) => anchors?.all ?? 0);
  const wrong = judged.flatMap(
    ({ path, anchors }) => anchors?.wrong.map((id) => `${path}#${id}`) ?? [],
  );
  if (places > 0)
    say(`  ${wrong.length} of ${places} anchors wrong (${percent(wrong.length, places)})`);
  for (const each of wrong.slice(0, most)) say(`    ${each}`);
  if (!isProof) say("  cannot tell: documents compared with pages of other files look right");
  const worst = flagged.sort((a, b) => b.lostWords + b.addedWords - a.lostWords - a.addedWords);
  for (const each of worst.slice(0, most)) {
    say(`  ${each.path} (${each.words} words, read by ${each.readers.join(", ")})`);
    if (each.lostWords > 0) say(`    lost ${each.lostWords}: ${each.lost}`);
    if (each.addedWords > 0) say(`    added ${each.addedWords}: ${each.added}`);
  }
  if (flagged.length > most) say(`  … and ${flagged.length - most} more: --show N`);
  for (const { path, problem } of unjudged.slice(0, most))
    say(`  cannot tell: ${path}: ${problem}`);
  return isProof && unjudged.length === 0 && flagged.length <= tolerated * judged.length;
}

/** What stays in memory of a judgement: texts of both lists, and how long they are. */
const summaryOf = ({ lost, added, ...rest }) => ({
  ...rest,
  ...(lost ? { lostWords: sumOf(lost), lost: shown(lost) } : {}),
  ...(added ? { addedWords: sumOf(added), added: shown(added) } : {}),
});

const jsonLine = (folder, { lost, added, ...rest }) =>
  JSON.stringify({
    folder,
    ...rest,
    ...(lost ? { lost: Object.fromEntries(lost), added: Object.fromEntries(added) } : {}),
  });

/**
 * Compares the folders and prints which words other readers have and the tool lacks, and the other
 * way round. With `json`, prints a line for each document on stdout and the rest on stderr. Returns
 * whether in each folder and format at most 1 % of the documents was flagged, each was read by two
 * others, documents of other files were flagged, and the tool could read every document.
 */
export async function proveCorpora(
  folders,
  { show = "10", json = false, site, main, convert = "", say = json ? console.error : console.log },
  readers = site === undefined ? foreignReaders : [siteReader(resolve(site), main)],
  tool = readByTool,
) {
  let isGood = true;
  const ofSite = site === undefined ? [] : ["--sections", "headings", "--link-base", siteBase];
  const flags = [...ofSite, ...convert.split(" ").filter(Boolean)];
  const options = { readers, tool, say, named: new Set(), site: site && resolve(site), flags };
  for (const folder of folders.map((each) => resolve(each))) {
    const scratch = mkdtempSync(join(tmpdir(), "corpora-"));
    try {
      say(`\n${folder}`);
      const results = [];
      const { status, said } = await judgeFolder(folder, scratch, options, (each) => {
        if (json) console.log(jsonLine(folder, each));
        results.push(summaryOf(each));
      });
      for (const line of status === 0 ? [] : said.trim().split("\n").slice(-8)) say(`  ${line}`);
      if (results.length === 0) say("nothing was compared");
      const parts = [...new Set(results.map(({ format }) => format))].map((format) => {
        const ours = results.filter((each) => each.format === format);
        return reportFormat(format, ours, Number(show), say);
      });
      if (status !== 0 || results.length === 0 || parts.includes(false)) isGood = false;
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  return isGood;
}
