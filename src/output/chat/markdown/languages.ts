import {
  c,
  cpp,
  csharp,
  dart,
  java,
  kotlin,
  objectiveC,
  scala,
} from "@codemirror/legacy-modes/mode/clike";
import { css, less, sCSS } from "@codemirror/legacy-modes/mode/css";
import { diff } from "@codemirror/legacy-modes/mode/diff";
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile";
import { go } from "@codemirror/legacy-modes/mode/go";
import { groovy } from "@codemirror/legacy-modes/mode/groovy";
import { javascript, json, typescript } from "@codemirror/legacy-modes/mode/javascript";
import { lua } from "@codemirror/legacy-modes/mode/lua";
import { nginx } from "@codemirror/legacy-modes/mode/nginx";
import { perl } from "@codemirror/legacy-modes/mode/perl";
import { powerShell } from "@codemirror/legacy-modes/mode/powershell";
import { properties } from "@codemirror/legacy-modes/mode/properties";
import { python } from "@codemirror/legacy-modes/mode/python";
import { r } from "@codemirror/legacy-modes/mode/r";
import { ruby } from "@codemirror/legacy-modes/mode/ruby";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { standardSQL } from "@codemirror/legacy-modes/mode/sql";
import { swift } from "@codemirror/legacy-modes/mode/swift";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { html, xml } from "@codemirror/legacy-modes/mode/xml";
import { yaml } from "@codemirror/legacy-modes/mode/yaml";
import type { StreamParser } from "@codemirror/streamparser";

const names: readonly [StreamParser<unknown>, string][] = [
  [c, "c h"],
  [cpp, "cpp c++ cc hpp arduino"],
  [csharp, "csharp cs c#"],
  [css, "css"],
  [dart, "dart"],
  [diff, "diff patch"],
  [dockerFile as StreamParser<unknown>, "dockerfile docker containerfile"],
  [go as StreamParser<unknown>, "go golang"],
  [groovy as StreamParser<unknown>, "groovy gradle jenkinsfile"],
  [html, "html xhtml vue svelte"],
  [java, "java"],
  [javascript as StreamParser<unknown>, "javascript js jsx mjs cjs node"],
  [json as StreamParser<unknown>, "json jsonc json5 ndjson jsonl"],
  [kotlin, "kotlin kt kts"],
  [less, "less"],
  [lua as StreamParser<unknown>, "lua"],
  [nginx as StreamParser<unknown>, "nginx"],
  [objectiveC, "objectivec objc objective-c"],
  [perl as StreamParser<unknown>, "perl pl"],
  [powerShell as StreamParser<unknown>, "powershell ps1 pwsh ps"],
  [properties as StreamParser<unknown>, "properties ini conf dotenv env editorconfig"],
  [python as StreamParser<unknown>, "python py python3 pycon"],
  [r as StreamParser<unknown>, "r"],
  [ruby as StreamParser<unknown>, "ruby rb"],
  [rust as StreamParser<unknown>, "rust rs"],
  [sCSS, "scss sass"],
  [scala, "scala"],
  [shell as StreamParser<unknown>, "shell sh bash zsh console shell-session shellsession ksh"],
  [standardSQL, "sql mysql postgresql postgres pgsql sqlite plsql tsql"],
  [swift as StreamParser<unknown>, "swift"],
  [toml as StreamParser<unknown>, "toml"],
  [typescript as StreamParser<unknown>, "typescript ts tsx mts cts"],
  [xml, "xml svg rss xsl xsd plist"],
  [yaml as StreamParser<unknown>, "yaml yml"],
];

/** Parser of a language by its names after a code fence, in lower case. */
export const languages: ReadonlyMap<string, StreamParser<unknown>> = new Map(
  names.flatMap(([parser, all]) => all.split(" ").map((name) => [name, parser] as const)),
);
