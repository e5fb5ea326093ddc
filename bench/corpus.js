import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const sentence = "The quick review of the quarterly plan names owners, dates and open questions. ";

/** Text of one document of about `bytes`, with front matter of five keys. */
function documentText(name, bytes) {
  const head = `---
title: Document ${name}
tags: [bench, sample]
updated: 2026-01-02
owner: Ann Example <ann@example.com>
team: docs
---
# Document ${name}

`;
  return `${head}${sentence.repeat(Math.ceil((bytes - head.length) / sentence.length))}`.slice(
    0,
    bytes,
  );
}

/** Makes `folder` a project root with `files` Markdown files of `bytes` each, in so many folders. */
function writeCorpus(folder, { files, folders, bytes }) {
  mkdirSync(join(folder, ".git"), { recursive: true });
  const perFolder = Math.ceil(files / folders);
  for (let index = 0; index < files; index++) {
    const part = join(folder, `part-${String(Math.floor(index / perFolder)).padStart(4, "0")}`);
    if (index % perFolder === 0) mkdirSync(part);
    const name = String(index).padStart(6, "0");
    writeFileSync(join(part, `${name}.md`), documentText(name, bytes));
  }
}

/**
 * The corpora of one bench run: each is written when it is first asked for and
 * goes with `folder`.
 */
export function createCorpora(folder) {
  const written = new Map();
  return ({ files, folders, bytes }) => {
    const name = `corpus-${files}-${folders}-${bytes}`;
    const path = written.get(name) ?? join(folder, name);
    if (!written.has(name)) writeCorpus(path, { files, folders, bytes });
    written.set(name, path);
    return path;
  };
}
