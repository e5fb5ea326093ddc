import { expect, it } from "vitest";
import { parseColumnMap } from "../../../src/documents/formats/rows.ts";
import { failure } from "../folder.ts";

it.each([
  ["title=name,text=body", { title: "name", text: "body" }],
  [" title = Full name , owners=by", { title: "Full name", owners: "by" }],
  ["semantic_identifier=a,doc_updated_at=b", { semantic_identifier: "a", doc_updated_at: "b" }],
  ["text=a=b", { text: "a=b" }],
  ["metadata.size=cm,metadata.a.b=c", { "metadata.size": "cm", "metadata.a.b": "c" }],
])("%s", (text, map) => {
  expect(parseColumnMap(text)).toEqual(map);
});

it.each([
  ["", "--map : not FIELD=COLUMN"],
  ["title", "--map title: not FIELD=COLUMN"],
  ["title=", "--map title=: not FIELD=COLUMN"],
  ["name=title", "--map name: no field of this name"],
  ["constructor=x", "--map constructor: no field of this name"],
  ["metadata.=x", "--map metadata.: no field of this name"],
  ["metadata.__proto__=x", "--map metadata.__proto__: no field of this name"],
  ["title=a,title=b", "--map title: given twice"],
  ["owner=a,owners=b", "--map owners: given twice (owner)"],
  ["updated=a,doc_updated_at=b", "--map doc_updated_at: given twice (updated)"],
  ["title=a,metadata.b=a", "--map metadata.b: the column a is given twice"],
])("%j is refused", (text, message) => {
  expect(failure(() => parseColumnMap(text))).toBe(message);
});
