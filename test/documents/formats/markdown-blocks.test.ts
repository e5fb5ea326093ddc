import { describe, expect, it } from "vitest";
import { readMarkdown } from "../../../src/documents/formats/markdown/markdown.ts";
import { expectLinear } from "../../cost.ts";
import { around } from "./around.ts";

const bodyOf = (text: string): string => readMarkdown(text, "a.md", around).body;

describe("blocks of site generators", () => {
  it.each([
    ["a box", '!!! note "Read this"\n    a\n\n    b\n\nc', "**Note: Read this**\n\na\n\nb\n\nc"],
    ["a box without a title", "!!! warning\n\n    a\n\nb", "**Warning**\n\na\n\nb"],
    ["a box with a hidden title", '!!! note ""\n    a', "\na"],
    ["a box of another kind", '!!! pied-piper inline end "T"\n    a', "**T**\n\na"],
    ["a folded box", '???+ tip "T"\n    a', "**Tip: T**\n\na"],
    [
      "a heading and a fence in a box",
      "!!! tip\n    ## T\n\n    ```sh\n    # a\n        b\n    ```\nc",
      "**Tip**\n\n## T\n\n```sh\n# a\n    b\n```\nc",
    ],
    [
      "a fence that the box ends",
      "!!! tip\n    ```\n    a\n\nb { .c }",
      "**Tip**\n\n```\na\n\nb { .c }",
    ],
    [
      "tabs in a box in a list",
      '1.  a\n\n    !!! tip\n        === "npm"\n            b\n        === "yarn"\n\n            c\n\n2.  d',
      "1.  a\n\n    **Tip**\n\n    **npm**\n\n    b\n    **yarn**\n\n    c\n\n2.  d",
    ],
    [
      "tabs",
      '=== "npm"\n\n\t```\n\ta\n\t```\n\n=== "yarn"\n\n    b',
      "**npm**\n\n```\na\n```\n\n**yarn**\n\nb",
    ],
    ["a directive", ":::note[Read `this`]\na\n:::\nb", "**Note: Read `this`**\n\na\n\nb"],
    ["a directive with a title", "::: tip The title\na\n:::", "**Tip: The title**\n\na\n"],
    ["a directive without a title", ":::info\n\na\n\n:::", "**Info**\n\na\n\n"],
    ["details", "::: details More {open}\na\n:::", "**More**\n\na\n"],
    ["blocks of slashes", "/// note | T\n\na\n\n///\n/// x\nb\n///", "**Note: T**\n\na\n\n\n\nb\n"],
    ["callouts", '::: {.callout-note title="T"}\na\n:::', "**Note: T**\n\na\n"],
    ["directives without words", "::: code-group\na\n:::", "\na\n"],
    [
      "images of DocFX",
      '- a\n\n  :::image type="content" source="b/c.png" alt-text="C" lightbox="d.png":::\n\n:::image type="complex" source="e f.png" alt-text="[E]":::\ng\n:::image-end:::',
      "- a\n\n  ![C](b/c.png)\n\n![ E ](<e%20f.png>)\ng\n",
    ],
    [
      "columns and versions of DocFX",
      ':::row:::\n   :::column span="2":::\na\n   :::column-end:::\n:::row-end:::\n::: moniker range=">= a-3.0"\nb\n::: moniker-end\n:::zone pivot="c"\nd\n:::zone-end\n:::code source="e.cs":::',
      '\n\na\n\n\n\nb\n\n\nd\n\n:::code source="e.cs":::',
    ],
    ["nested directives", "::::note\n:::tip\na\n:::\nb\n::::", "**Note**\n\n**Tip**\n\na\n\nb\n"],
    ["an indented directive", "- a\n\n  :::tip\n  b\n  :::", "- a\n\n  **Tip**\n\n  b\n"],
    ["attribute lists", "a\n{: .b #c }\n\n[d](e){ .f target=_g } h", "a\n\n\n[d](e) h"],
    [
      "the class of a heading",
      "## T { .a }\n## U {#u}\n## V { #v .a }",
      "## T\n## U {#u}\n## V { #v .a }",
    ],
    [
      "the id below a heading",
      "## T\n{: #t .a}\n\nU\n---\n{:#u}\n",
      "## T {#t}\n\n\nU {#u}\n---\n\n",
    ],
    ["attribute lists in cells", "| a{: .b} | `c{: .d}` | e{.f} |", "| a | `c{: .d}` | e |"],
    ["annotations", "a (1)\n{ .annotate }\n\n1.  b", "a (1)\n\n\n1.  b"],
  ])("become text: %s", (_name, text, body) => {
    expect(bodyOf(text)).toBe(body);
  });

  it.each([
    ["fences", "```\n!!! note\n    a\n:::tip\n{ .a }\n:::\n```\n"],
    ["code spans", "`a(){ .b }` and `c`:::\n"],
    ["exclamations", "!!! wow\n\nb\n"],
    ["indented code below", "!!! wow\nb\n"],
    ["a text of many lines", `!!! \n${"a\n\n".repeat(12_000)}`],
    ["names of code", "::: a.b.C\n    options:\n        x: y\n"],
    ["colons", "a ::: b\n\n:::\n"],
    ["underlined titles", "a\n===\n\n=== b\n    c\n"],
    ["footnotes and definitions", "a[^1]\n\nT\n:   D { .a\n\n[^1]: b\n"],
    ["braces", "a { ...b } {:c, {. d}\n"],
  ])("nothing else changes: %s", (_name, text) => {
    expect(bodyOf(text)).toBe(text);
  });

  it.each([
    "!!! a\n    ",
    '=== "a"\n    b\n',
    ":::a\n",
    ":::",
    ":::a [",
    ":::{",
    "/// a\n",
    "/// a |",
    "{:",
    "){ .a",
    "# {: .a ",
    "!!! a\n\n\n",
    ' !!! "',
    "{ .a } ",
    "{:a}\n",
    "{:#a}\n",
    "{: |",
  ])("many times %j costs no more than its length", (piece) => {
    expectLinear(50_000, (count) => void bodyOf(`:::\n${piece.repeat(count)}`));
  });
});
