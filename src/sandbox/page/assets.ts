/* oxlint-disable import/default, import/no-named-as-default -- the linter reads the files themselves, which export no text */
import answer from "./browser/answer.js?raw";
import ask from "./browser/ask.js?raw";
import connectors from "./browser/connectors.js?raw";
import document from "./browser/document.js?raw";
import documents from "./browser/documents.js?raw";
import dom from "./browser/dom.js?raw";
import faults from "./browser/faults.js?raw";
import icon from "./browser/icon.svg?raw";
import index from "./browser/index.html?raw";
import main from "./browser/main.js?raw";
import markdown from "./browser/markdown.js?raw";
import service from "./browser/service.js?raw";
import style from "./browser/style.css?raw";
import times from "./browser/times.js?raw";
import turn from "./browser/turn.js?raw";

export const html = index;

const script = (body: string) => ({ type: "text/javascript; charset=utf-8", body });

/** The files of the page below `/page/`, by name. */
export const files: ReadonlyMap<string, { type: string; body: string }> = new Map([
  ["answer.js", script(answer)],
  ["ask.js", script(ask)],
  ["connectors.js", script(connectors)],
  ["document.js", script(document)],
  ["documents.js", script(documents)],
  ["dom.js", script(dom)],
  ["faults.js", script(faults)],
  ["icon.svg", { type: "image/svg+xml", body: icon }],
  ["main.js", script(main)],
  ["markdown.js", script(markdown)],
  ["service.js", script(service)],
  ["style.css", { type: "text/css; charset=utf-8", body: style }],
  ["times.js", script(times)],
  ["turn.js", script(turn)],
]);
