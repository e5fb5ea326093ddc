// `node scripts/page-picture.js [FOLDER]`: builds, uploads the handbook to a sandbox, asks a question
// on its page, and writes pictures of the page and of the upload's report to FOLDER (docs/pictures):
// page-light.png, page-dark.png, report-light.png, report-dark.png.
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

/** Uploads the handbook and a document with a mistake. Returns the path of the report. */
function upload(home, folder, url) {
  cpSync(join(projectFolder, "examples", "handbook"), join(folder, "handbook"), {
    recursive: true,
  });
  const mistake = "---\nupdated: yesterday\n---\n# Parking\n";
  writeFileSync(join(folder, "handbook", "office", "parking.md"), mistake);
  const report = join(folder, "report.html");
  const binary = join(projectFolder, "bin", "knowctl.cjs");
  // One at a time, so that the newest document is always the same.
  const flags = ["--cc-pair-id", "2", "--sections", "headings", "--concurrency", "1"];
  const toFile = ["--report", report];
  const { status, stderr } = spawnSync(
    process.execPath,
    [binary, "ingest", "handbook", "--no-state", ...flags, ...toFile],
    {
      cwd: folder,
      env: trialEnvironment(home, { KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: "sandbox" }),
      encoding: "utf8",
    },
  );
  // Some documents were created, one failed.
  if (status !== 10) throw new Error(`the upload ended with exit ${status}:\n${stderr}`);
  return report;
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

/** Asks, switches a fault on, and draws the page. */
async function draw(page, url) {
  await page.resize(1200, 900);
  await page.open(`${url}/`);
  await page.until(`document.querySelectorAll("#documents a").length > 0`);
  await page.type(question);
  await page.press("Enter");
  await page.until(`document.querySelector("article .sources") !== null`);
  await page.evaluate(`document.querySelector("#fault-${fault}").click()`);
  await page.until(`!document.querySelector("#fault-flag").hidden`);
  // A recent time and a blinking cursor would differ in each picture.
  const settle = `document.activeElement.blur();
  for (const each of document.querySelectorAll("time.ago")) {
    if (/ago|now/.test(each.textContent)) each.textContent = "just now";
  }`;
  await drawSchemes(page, "page", settle);
}

const path = findChromium();
if (path === undefined) throw new Error("no Chromium is found; install it, or set CHROMIUM");
ensureInstalled();
await build();
mkdirSync(target, { recursive: true });
const home = mkdtempSync(join(tmpdir(), "knowctl-picture-"));
const { child, url } = await startSandbox(home);
const chromium = await startChromium(path);
try {
  const report = upload(home, mkdtempSync(join(home, "files-")), url);
  await draw(await chromium.newPage(), url);
  await drawReport(await chromium.newPage(), report);
} finally {
  await chromium.close();
  await endSandbox(child);
  rmSync(home, { recursive: true, force: true });
}
