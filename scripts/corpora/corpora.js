// `npm run prove -- corpora FOLDER…`: reads real folders twice, by the tool and by an independent
// reading of the plain words, and lists the documents that lost words.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { projectFolder } from "../install.js";
import { countWords, lostWords, plainText } from "./page-words.js";

const formats = {
  markdown: "md",
  mdx: "mdx",
  md: "md",
  rst: "rst",
  adoc: "adoc",
  asciidoc: "adoc",
  html: "html",
  htm: "html",
  txt: "txt",
  docx: "docx",
  pdf: "pdf",
};
const byPython = ["rst", "html", "docx", "pdf", "adoc"];
const isBinary = (format) => format === "docx" || format === "pdf";
// What the issue of real folders asks for.
const mostLost = 0.005;
const wantedShare = 0.99;

const formatOf = (path) => formats[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""];

/** What the tool would send, by path: the words of title and sections. Calls `each` with path and text. */
async function readByTool(folder, scratch, each) {
  const config = join(scratch, "config.json");
  // The path is the id of every document, so that file and document are compared.
  writeFileSync(config, JSON.stringify({ ingest: { frontMatter: { id: ["id-of-no-page"] } } }));
  const args = ["convert", ".", "--root", ".", "--config", config, "--drafts"];
  const child = spawn(process.execPath, [join(projectFolder, "bin/knowctl.cjs"), ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  const ended = new Promise((settle) => child.on("close", settle));
  for await (const line of createInterface({ input: child.stdout })) {
    const parsed = JSON.parse(line);
    const { id, title, semantic_identifier, sections } = parsed.document ?? parsed;
    each(id, [title, semantic_identifier, ...sections.map(({ text }) => text ?? "")].join("\n"));
  }
  const status = await ended;
  return { status, said };
}

/** Words of a document, with those that the marks of a link or of code divide. */
function countSent(text) {
  const counts = countWords(text);
  const withoutLinks = text.replace(/\[|\]\([^()\s]*\)/g, "");
  for (const other of [withoutLinks, withoutLinks.replaceAll("`", "")]) {
    for (const [word, count] of countWords(other)) {
      counts.set(word, Math.max(count, counts.get(word) ?? 0));
    }
  }
  return counts;
}

/** Texts of pages by Python, by path; undefined where Python or a library of it is missing. */
function readByPython(folder, paths) {
  const input = JSON.stringify(paths.map((path) => [join(folder, path), formatOf(path)]));
  const script = join(import.meta.dirname, "page_words.py");
  const run = spawnSync("python3", [script], { input, encoding: "utf8", maxBuffer: 1 << 30 });
  if (run.status !== 0) return undefined;
  const lines = run.stdout.split("\n").filter((line) => line !== "");
  return new Map(lines.map((line) => JSON.parse(line)).map((each) => [each.path, each]));
}

function compare(folder, sent) {
  const results = [];
  const paths = [...sent.keys()].filter((path) => formatOf(path) !== undefined);
  const read = new Map();
  for (const format of byPython) {
    const some = paths.filter((path) => formatOf(path) === format);
    if (some.length === 0) continue;
    const texts = readByPython(folder, some);
    if (!texts) console.log(`  ${format}: python3 with docutils is missing: read by patterns`);
    for (const path of some) read.set(path, texts?.get(join(folder, path)));
  }
  for (const path of paths) {
    const format = formatOf(path);
    const other = read.get(path);
    // A page that asciidoctor cannot convert, or no asciidoctor: its patterns are read.
    const isUnread = other?.problem !== undefined && format !== "adoc";
    if (isUnread || (isBinary(format) && !other)) {
      results.push({ path, format, problem: other?.problem ?? "needs python3" });
      continue;
    }
    const text = other?.text ?? plainText(readFileSync(join(folder, path), "utf8"), format);
    const page = countWords(text);
    const lost = lostWords(page, sent.get(path));
    const words = [...page.values()].reduce((sum, count) => sum + count, 0);
    results.push({ path, format, words, lost });
  }
  return results;
}

function report(folder, results, shown) {
  if (results.length === 0) {
    console.log(`${basename(folder)}: nothing was compared`);
    return false;
  }
  let isGood = true;
  for (const format of new Set(results.map((each) => each.format))) {
    const ours = results.filter((each) => each.format === format && each.problem === undefined);
    const unread = results.filter((each) => each.format === format && each.problem !== undefined);
    const shareOf = ({ words, lost }) => (words === 0 ? 0 : lost.length / words);
    const bad = ours
      .filter((each) => shareOf(each) > mostLost)
      .sort((a, b) => shareOf(b) - shareOf(a));
    const sum = (pick) => ours.reduce((total, each) => total + pick(each), 0);
    const words = sum((each) => each.words);
    const lost = sum((each) => each.lost.length);
    const share = ours.length === 0 ? 0 : 1 - bad.length / ours.length;
    if (share < wantedShare) isGood = false;
    console.log(
      `${basename(folder)} ${format}: ${ours.length} documents, ${unread.length} not compared, ${words} words, ${lost} lost (${((100 * lost) / Math.max(1, words)).toFixed(2)} %); ` +
        `${(100 * share).toFixed(1)} % of the documents lost at most 0.5 %`,
    );
    for (const each of bad.slice(0, shown)) {
      const some = each.lost.slice(0, 12).join(" ");
      console.log(
        `  ${(100 * shareOf(each)).toFixed(1)} % of ${each.words}: ${each.path}: ${some}`,
      );
    }
    if (bad.length > shown) console.log(`  … and ${bad.length - shown} more: --show N`);
    for (const { path, problem } of unread.slice(0, shown)) {
      console.log(`  not compared: ${path}: ${problem}`);
    }
  }
  return isGood;
}

/**
 * Compares the folders and prints what was lost. Returns whether in each folder and format 99 % of
 * the compared documents lost at most 0.5 % of their words, and the tool could read every document.
 */
export async function proveCorpora(folders, { show = "10" }) {
  let isGood = true;
  for (const folder of folders.map((each) => resolve(each))) {
    const scratch = mkdtempSync(join(tmpdir(), "corpora-"));
    try {
      const sent = new Map();
      const { status, said } = await readByTool(folder, scratch, (id, text) =>
        sent.set(id, countSent(text)),
      );
      const lines = said.trim().split("\n");
      console.log(`\n${folder}: ${sent.size} documents, exit ${status}`);
      for (const line of lines.slice(-8)) console.log(`  ${line.slice(0, 200)}`);
      const isWhole = report(folder, compare(folder, sent), Number(show));
      // Documents that the tool could not read are not among the compared ones.
      if (!isWhole || status !== 0) isGood = false;
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  return isGood;
}
