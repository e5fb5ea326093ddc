import { posix } from "node:path";
import type { LintPage, PageRule } from "../../rule.ts";
import { findReferences } from "../../../../documents/images/image-references.ts";
import { placeOf } from "../../../../documents/images/image-places.ts";
import { namedFolder } from "../../../../documents/links/resolve-link.ts";
import { targetsFor, type Targets } from "../../../../documents/links/targets.ts";
import { formatOf, formats } from "../../../../documents/read/readers.ts";
import { withoutExtension } from "../../../../documents/read/file-name.ts";
import { pageBody } from "../../links/page-body.ts";
import { hasLinks, shownAddress } from "../../links/page-links.ts";

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

const exists = (targets: Targets, place: string): boolean => targets.at(place).kind !== "none";

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
  return (address) => written.has(address);
}

function isMissing({ path: from, settings }: LintPage, source: string): boolean {
  const place = placeOf(source);
  if (place.kind !== "file" || place.isFromRoot) return false;
  if (isExpression.test(source) || namedFolder.test(source)) return false;
  const places = placesOf(place.path, from);
  return places?.every((each) => !exists(targetsFor(settings), each)) === true;
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
    const body = pageBody(page);
    const missing = new Map<string, boolean>();
    const isWritten = createAuthorTest(page);
    for (const { source, offset } of findReferences(body.text)) {
      let isGone = missing.get(source);
      if (isGone === undefined) {
        if (missing.size >= mostLookups) return;
        missing.set(source, (isGone = isWritten(source) && isMissing(page, source)));
      }
      if (!isGone) continue;
      const message = `the image has no file: ${shownAddress(source)}`;
      yield { span: spanOf(body, source, offset), message };
    }
  },
};

/** The address of the image, or where its reference begins. */
function spanOf(body: ReturnType<typeof pageBody>, source: string, offset: number) {
  const text = body.text.slice(offset, offset + 1000 + source.length);
  const at = text.indexOf(source);
  return at === -1
    ? body.spanOf(offset, offset + 1)
    : body.spanOf(offset + at, offset + at + source.length);
}
