import { bodyOf } from "../../page/body.ts";
import { findInFields } from "../../page/fields.ts";
import { createLineOf } from "../../page/lines.ts";
import { createFindSpan } from "../../page/spans.ts";
import type { PageRule } from "../../rule.ts";

const control = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const override = /[\u202d\u202e]/;
const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** The first control of a line that no letters need; an override before the others. */
function controlIn(line: string): string | undefined {
  const found = override.exec(line)?.[0];
  if (found !== undefined || rightToLeft.test(line)) return found;
  return line.charAt(line.search(control));
}

function problemOf(found: string): string {
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return `U+${code} changes the direction of the text`;
}

export const bidiControls: PageRule = {
  kind: "page",
  name: "bidi-controls",
  group: "hidden",
  severity: "warning",
  summary: "Invisible characters change the direction of the text",
  advice:
    "People and models read such a text in different orders. " +
    "Remove the characters. In a line with Arabic or Hebrew letters, only overrides are reported.",
  bad: "# Transfers\n\nSend the invoice to account \u202e4321\u202c and keep a copy of it for ten years.\n",
  good: "# Transfers\n\nSend the invoice to account 1234 and keep a copy of it for ten years.\n",
  *check(page) {
    yield* findInFields(page, (text) => {
      const found = text.search(control) === -1 ? undefined : controlIn(text);
      return found && problemOf(found);
    });
    const body = bodyOf(page);
    const { text } = body;
    if (text.search(control) === -1) return;
    const lineOf = createLineOf(text);
    const find = createFindSpan(page, body);
    let after = 0;
    for (const { index } of text.matchAll(control)) {
      if (index < after) continue;
      const [start, end] = lineOf(index);
      // One finding for each line: the characters come in pairs.
      after = end;
      const found = controlIn(text.slice(start, end));
      if (found === undefined) continue;
      const at = text.indexOf(found, index);
      yield { message: problemOf(found), span: find(at, at + 1) };
    }
  },
};
