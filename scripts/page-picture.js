// `node scripts/page-picture.js [FOLDER]`: builds, uploads the handbook to a sandbox, asks a question
// on its page, compares two runs of eval, and writes pictures to FOLDER (docs/pictures): page-light.png
// and page-dark.png of the page, report-… of the upload's report, eval-… of eval's report.
// Needs Chromium or Chrome; $CHROMIUM names another one. The same Chromium draws the same picture.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "./build.js";
import { findChromium, startChromium } from "./chromium.js";
import { ensureInstalled, projectFolder } from "./install.js";
import { endSandbox, startSandbox, trialEnvironment } from "./trial-sandbox.js";

const target = process.argv[2] ?? join(projectFolder, "docs", "pictures");
const question = "How do I request annual leave?";
const fault = "503";

const handbook = join(projectFolder, "examples", "handbook");

/** Runs knowctl in `folder`, against the service at `url`. Fails unless it exits with `expected`. */
function run(args, { home, folder, url }, expected = 0) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(projectFolder, "bin", "knowctl.cjs"), ...args],
    {
      cwd: folder,
      env: trialEnvironment(home, { KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: "sandbox" }),
      encoding: "utf8",
    },
  );
  if (status !== expected) throw new Error(`${args.join(" ")}: exit ${status}\n${stdout}${stderr}`);
}

/** Uploads the handbook and a document with a mistake. Returns the path of the report. */
function upload(place) {
  cpSync(handbook, join(place.folder, "handbook"), { recursive: true });
  const mistake = "---\nupdated: yesterday\n---\n# Parking\n";
  writeFileSync(join(place.folder, "handbook", "office", "parking.md"), mistake);
  const report = join(place.folder, "report.html");
  // One at a time, so that the newest document is always the same.
  const flags = ["--cc-pair-id", "2", "--sections", "headings", "--concurrency", "1"];
  // Some documents are created, one fails.
  run(["ingest", "handbook", "--no-state", ...flags, "--report", report], place, 10);
  return report;
}

/** Questions about the handbook, and the page that answers each. */
const questions = {
  "annual-leave": ["How many days of paid leave do I have?", "people/holidays.md"],
  "doctors-note": ["When do I need a doctor's note?", "people/holidays.md"],
  "parental-leave": ["How long is parental leave?", "people/holidays.md"],
  receipts: ["Where do I send the receipt of a train?", "people/expenses.md"],
  "lost-laptop": ["Whom do I call about a lost laptop?", "it/security.md"],
  "password-length": ["How many characters has a password?", "it/security.md"],
  "firmware-day": ["On which day is firmware released?", "it/releases.md"],
  visitors: ["How do I register visitors?", "office/rooms.md"],
};

/** Evaluates the handbook before and after an old copy of a rule is added. Returns the second report. */
function evaluate(place) {
  cpSync(handbook, join(place.folder, "docs"), { recursive: true });
  writeFileSync(join(place.folder, ".cliconfig.json"), "{}\n");
  const cases = Object.entries(questions).map(([id, [asked, path]]) => ({
    id,
    question: asked,
    must_retrieve: [`docs/${path}`],
  }));
  const suite = join(place.folder, "suite.yaml");
  writeFileSync(suite, JSON.stringify({ version: 1, defaults: { k: 1 }, cases }));
  const [before, now] = ["before.json", "now.html"].map((name) => join(place.folder, name));
  const ingest = ["ingest", "docs", "--cc-pair-id", "2", "--dialect", "onyx"];
  const retrieval = ["eval", "retrieval", "suite.yaml", "--dialect", "onyx"];
  run(ingest, place);
  run([...retrieval, "--report", before], place);
  const copy = `# Rules until 2024

## Sick days

Tell your team lead before noon. You need a doctor's note from the second day on.
`;
  writeFileSync(join(place.folder, "docs", "people", "archive.md"), copy);
  run(ingest, place);
  run([...retrieval, "--baseline", "before.json", "--report", now], place, 13);
  return now;
}

/** One picture for each colour scheme; `settle` runs in the page before each. */
async function drawSchemes(page, name, settle) {
  for (const scheme of ["light", "dark"]) {
    const features = [{ name: "prefers-color-scheme", value: scheme }];
    await page.send("Emulation.setEmulatedMedia", { features });
    await page.evaluate(settle);
    writeFileSync(join(target, `${name}-${scheme}.png`), await page.picture({ scale: 1 }));
  }
}

/** Draws the report of an upload. */
async function drawReport(page, report) {
  await page.resize(1000, 700);
  await page.open(pathToFileURL(report).href);
  await drawSchemes(page, "report", "undefined");
}

/** Draws the report of eval. */
async function drawEval(page, report) {
  await page.resize(1000, 960);
  await page.open(pathToFileURL(report).href);
  // Time and duration would differ in each picture.
  const settle = `for (const each of document.querySelectorAll("header p")) {
    each.textContent = each.textContent.replace(/ · [\\d.]+ ?m?s · \\d{4}-.*/, "");
  }`;
  await drawSchemes(page, "eval", settle);
}

/** Asks, switches a fault on, and draws the page. */
async function draw(page, url) {
  await page.resize(1200, 900);
  await page.open(`${url}/`);
  await page.until(`document.querySelectorAll("#documents a").length > 0`);
  await page.type(question);
  await page.press("Enter");
  await page.until(`document.querySelector("article .sources") !== null`);
  await page.evaluate(`{
    const select = document.querySelector("#fault-${fault}");
    select.value = "1";
    select.dispatchEvent(new Event("change"));
  }`);
  await page.until(`!document.querySelector("#fault-flag").hidden`);
  // A recent time and a blinking cursor would differ in each picture.
  const settle = `document.activeElement.blur();
  for (const each of document.querySelectorAll("time")) {
    if (Date.now() - Date.parse(each.dateTime) < 3_600_000) each.textContent = "1 Jan 2026, 09:00";
  }`;
  await drawSchemes(page, "page", settle);
}

const path = findChromium();
if (path === undefined) throw new Error("no Chromium is found; install it, or set CHROMIUM");
ensureInstalled();
await build();
mkdirSync(target, { recursive: true });
const home = mkdtempSync(join(tmpdir(), "knowctl-picture-"));
const standard = await startSandbox(home);
const onyx = await startSandbox(home, "onyx");
const chromium = await startChromium(path);
const placeOf = ({ url }) => ({ home, url, folder: mkdtempSync(join(home, "files-")) });
try {
  const report = upload(placeOf(standard));
  await draw(await chromium.newPage(), standard.url);
  await drawReport(await chromium.newPage(), report);
  await drawEval(await chromium.newPage(), evaluate(placeOf(onyx)));
} finally {
  await chromium.close();
  for (const { child } of [standard, onyx]) await endSandbox(child);
  rmSync(home, { recursive: true, force: true });
}
