import { shownAddress } from "../../../documents/map/links/rewrite-links.ts";
import { posix } from "node:path";
import { linkingFile } from "../../../documents/map/links/linking-file.ts";
import type { Cause, LintPage, PageRule } from "../rule.ts";
import { targetsFor, type Targets } from "../../../documents/map/links/targets.ts";
import { hasLinks } from "../page/page-links.ts";
import { isAdocPath } from "../page/anchors.ts";
import { findReferences } from "../../../documents/map/images/image-references.ts";
import { inAssets, placeOf } from "../../../documents/map/images/image-sections.ts";
import { namedFolder } from "../../../documents/map/links/resolve-link.ts";
import { siteOf } from "../../../documents/site/sites.ts";
import { formatOf, formats } from "../../../documents/formats/formats.ts";
import { withoutExtension } from "../../../documents/files/file-name.ts";
import { bodyOf, createProseTest } from "../page/body.ts";
import { createFindSpan } from "../page/spans.ts";

// A hostile page: further addresses are not looked up.
const mostLookups = 10_000;
// Expressions of template languages and programs, wildcards of Sphinx, and addresses that are not literal.
const isExpression = /[{}<>*$|]|^%.*%$|^require\(/;
// Folders whose files a site copies to its root.
const publicFolders = ["static", "public", "assets", "docs", "docs/assets"];

/** The root-relative paths where a site may find the image; undefined if one is not in the project. */
function placesOf(path: string, from: string): string[] | undefined {
  const folder = posix.dirname(from);
  // Sites with addresses that end with "/" resolve the addresses of HTML below the page.
  const folders = [folder, withoutExtension(from), posix.dirname(folder), ...publicFolders];
  const places: string[] = [];
  for (const each of folders) {
    const place = posix.normalize(posix.join(each, path));
    if (!place.startsWith("../")) places.push(place);
    else if (each === folder) return undefined;
  }
  return [
    ...new Set(places.flatMap((place) => [place, place.normalize("NFC"), place.normalize("NFD")])),
  ];
}

// docs.asciidoctor.org, "Set the imagesdir Attribute": a build may set it, for all pages of a book.
const imageFolders = ["images", "img", "resources/images", "resources/img", "assets/images"];
const mostAbove = 8;

/** Where the images of a book may be: in a folder for them beside the page or above it. */
function* placesOfBook(path: string, from: string): Generator<string> {
  let folder = posix.dirname(from);
  for (let count = 0; count < mostAbove; count++) {
    for (const each of imageFolders) yield posix.join(folder, each, path);
    if (folder === ".") return;
    folder = posix.dirname(folder);
  }
}

const exists = (targets: Targets, place: string): boolean => targets.at(place).kind !== "none";

// `:::image source="x.png":::` of Microsoft Learn, and `![[x.png|300]]` of Obsidian.
const ownForm = /:::image\b[^\n]{0,1000}?\bsource="([^"\n]{1,500})"|!\[\[([^[\]|#\n]{1,300})/g;

/** Whether the file itself has the image: what a shortcode makes of an address, only its site knows. */
function createAuthorTest({
  source = "",
  path,
  settings,
  parsed,
}: LintPage): (address: string) => boolean {
  const format = formatOf(path, settings.format);
  const isMarkdown = format === formats.markdown || format === formats.mdx;
  if (!isMarkdown || source.endsWith(parsed.body)) return () => true;
  const written = new Set(findReferences(source).map((each) => each.source));
  for (const [, learn, note = ""] of source.matchAll(ownForm)) written.add(learn ?? note.trim());
  return (address) => written.has(address);
}

function isMissing({ path: from, settings }: LintPage, source: string): boolean {
  const place = placeOf(source);
  if (place.kind !== "file" || place.isFromRoot) return false;
  if (isExpression.test(source) || namedFolder.test(source)) return false;
  const { vault, isMade } = linkingFile(from, settings, () => {});
  if (vault?.find(place.path) !== undefined) return false;
  // quarto.org, "Figures": without an extension, it is that of the format, which is PNG for HTML.
  const isOfQuarto = siteOf(from, settings)?.generator === "quarto";
  const path = isOfQuarto && posix.extname(place.path) === "" ? `${place.path}.png` : place.path;
  const places = placesOf(path, from);
  const assets = inAssets(path);
  if (assets !== undefined) places?.push(posix.normalize(posix.join(posix.dirname(from), assets)));
  if (isAdocPath(from) && !path.startsWith("../")) places?.push(...placesOfBook(path, from));
  if (places?.some((each) => isMade?.(each)) === true) return false;
  return places?.every((each) => !exists(targetsFor(settings), each)) === true;
}

/** Pages that show one image have one finding for it. */
function fileCause({ path }: LintPage, source: string): Cause {
  const file = posix.normalize(posix.join(posix.dirname(path), source));
  return { key: file, least: 0, what: "places show it" };
}

/** A relative image without its file. */
export const missingImage: PageRule = {
  kind: "page",
  name: "missing-image",
  group: "links",
  severity: "warning",
  summary: "A relative image has no file in the project",
  advice:
    "Readers of the page see a broken image, and `--images upload` has nothing to send. Correct the path, " +
    "or remove the image.",
  bad: "# Floor plan\n\nThe kitchen is on the left.\n\n![Plan of floor 2](img/floor-2.png)\n",
  good: "# Floor plan\n\nThe kitchen is on the left of the lift, behind the glass door.\n",
  *check(page) {
    if (!hasLinks(page)) return;
    const { text } = bodyOf(page);
    const find = createFindSpan(page);
    const missing = new Map<string, boolean>();
    const isWritten = createAuthorTest(page);
    const isProse = createProseTest(bodyOf(page));
    for (const { source, offset } of findReferences(text)) {
      if (!isProse(offset)) continue;
      let isGone = missing.get(source);
      if (isGone === undefined) {
        if (missing.size >= mostLookups) return;
        missing.set(source, (isGone = isWritten(source) && isMissing(page, source)));
      }
      if (!isGone) continue;
      const message = `the image has no file: ${shownAddress(source)}`;
      const at = text.slice(offset, offset + 1000 + source.length).indexOf(source);
      // The address of the image, or where its reference begins.
      const span =
        at === -1 ? find(offset, offset + 1) : find(offset + at, offset + at + source.length);
      yield { span, message, cause: fileCause(page, source) };
    }
  },
};
