/* oxlint-disable import/default, import/no-named-as-default -- the linter reads the files themselves, which export no text */
import ask from "./browser/ask.js?raw";
import documents from "./browser/documents.js?raw";
import dom from "./browser/dom.js?raw";
import faults from "./browser/faults.js?raw";
import icon from "./browser/icon.svg?raw";
import index from "./browser/index.html?raw";
import main from "./browser/main.js?raw";
import markdown from "./browser/markdown.js?raw";
import service from "./browser/service.js?raw";
import style from "./browser/style.css?raw";
import turn from "./browser/turn.js?raw";

export const html = index;

const scripts = { ask, documents, dom, faults, main, markdown, service, turn };

/** The files of the page below `/page/`, by name. */
export const files: ReadonlyMap<string, { type: string; body: string }> = new Map([
  ...Object.entries(scripts).map(
    ([name, body]) => [`${name}.js`, { type: "text/javascript; charset=utf-8", body }] as const,
  ),
  ["icon.svg", { type: "image/svg+xml", body: icon }],
  ["style.css", { type: "text/css; charset=utf-8", body: style }],
]);
