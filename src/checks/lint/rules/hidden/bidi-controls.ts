import { bodyOf } from "../../page/body.ts";
import { createLineOf } from "../../page/lines.ts";
import { createFindSpan } from "../../page/spans.ts";
import type { PageRule } from "../../rule.ts";

const control = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const override = /[\u202d\u202e]/;
const rightToLeft =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

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
      const line = text.slice(start, end);
      const found = override.exec(line)?.[0] ?? text.charAt(index);
      if (rightToLeft.test(line) && !override.test(line)) continue;
      const at = text.indexOf(found, index);
      const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      yield { message: `U+${code} changes the direction of the text`, span: find(at, at + 1) };
    }
  },
};
