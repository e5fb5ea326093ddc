import type { Command } from "commander";
import {
  addRecordOptions,
  addSharedOptions,
  addStateOption,
  choice,
  collect,
  collectParsed,
  filled,
  integer,
  perSecond,
  positive,
  shard,
  webAddress,
  duration,
  reportText,
  decimal,
} from "../../cli/options.ts";

const formats = choice(
  "markdown",
  "mdx",
  "text",
  "rst",
  "asciidoc",
  "html",
  "docx",
  "odt",
  "epub",
  "pptx",
  "ipynb",
  "xlsx",
  "pdf",
  "json",
  "ndjson",
  "csv",
  "tsv",
);

/** Flags that decide which files are taken, and which ids their documents have. */
export function addIdOptions(command: Command): Command {
  return command
    .optionsGroup("Which files:")
    .option("--include <glob>", "only matching files (repeatable)", collect)
    .option("--exclude <glob>", "skip matching files (repeatable)", collect)
    .option("--no-ignore", "include hidden files and files that .gitignore or .knowctlignore name")
    .option("--drafts", "include documents with draft: true in their front matter")
    .option("--format <name>", "format of named files or stdin: markdown, csv, pdf, …", formats)
    .optionsGroup("Documents:")
    .option("--id-prefix <text>", "prefix for ids that are made of paths")
    .option(
      "--map <field=column>",
      "columns of rows: title=name,text=body (repeatable)",
      collectParsed(filled),
    );
}

/** Flags that shape documents, and what `lint` finds in them. */
export function addShapeOptions(command: Command): Command {
  return command
    .option(
      "--max-section-chars <number>",
      "split longer sections at paragraphs",
      integer(200, 10_000_000),
    )
    .option(
      "--link <template>",
      "link of a document, from {path} {dir} {name} {slug} {id}, front matter; filters: {slug|strip:docs/|lower}",
    )
    .option(
      "--link-style <site>",
      "links as a site makes them: docusaurus (docs/01-a/index.md is docs/a/), hugo (content/A.md is a/), " +
        "jekyll (a.md is a.html), mkdocs (docs/a.md is a/), starlight (src/content/docs/A.md is a/), vitepress (a.md is a.html), github (a.md is blob/HEAD/a.md), " +
        "obsidian (A b.md is A+b), docfx and sphinx (a.md is a.html), antora (modules/m/pages/a.adoc is component/version/m/a.html), " +
        "myst (a/01_b.md is b), quarto (a.qmd is a.html)",
      choice(
        "antora",
        "docusaurus",
        "hugo",
        "jekyll",
        "mkdocs",
        "sphinx",
        "starlight",
        "vitepress",
        "github",
        "obsidian",
        "docfx",
        "myst",
        "quarto",
      ),
    )
    .option("--link-base <url>", "base of relative links", webAddress)
    .option("--metadata <key=value>", "add metadata (repeatable)", collect)
    .option("--tag <tag>", "add a tag (repeatable)", collectParsed(filled));
}

/** Flags that decide which files are taken and how they map. */
export function addMappingOptions(command: Command): Command {
  addShapeOptions(addIdOptions(command))
    .option("--source <type>", "source type of the documents (default: file)", filled)
    .option(
      "--sections <mode>",
      "one section per document (whole, default) or per heading (headings)",
      choice("whole", "headings"),
    )
    .option(
      "--anchors <style>",
      "style of links to headings: github, docusaurus, kramdown, mkdocs, vitepress, obsidian, myst, quarto, sphinx",
      choice(
        "github",
        "docusaurus",
        "kramdown",
        "mkdocs",
        "vitepress",
        "obsidian",
        "myst",
        "quarto",
        "sphinx",
      ),
    )
    .option(
      "--links <mode>",
      "links to other files: rewrite to the links of their documents, or keep (default: rewrite with --link or --link-style)",
      choice("rewrite", "keep"),
    )
    .option(
      "--updated-at <source>",
      "source of missing dates: git or mtime",
      choice("git", "mtime"),
    )
    .option("--owners <source>", "source of missing owners: codeowners", choice("codeowners"))
    .option("--meta-commit", "add the last commit of each file as metadata source_commit")
    .option(
      "--images <mode>",
      "images in the project: skip (default) or upload",
      choice("skip", "upload"),
    );
  return addDropAccessOption(command);
}

/** A permission that is given anew for each run, as --allow-secrets is. */
export function addDropAccessOption(command: Command): Command {
  return command
    .optionsGroup("Documents:")
    .option(
      "--drop-access",
      "send documents without their access rules; the pair decides who may read them",
    );
}

/** What may be in the documents. */
export function addContentOptions(command: Command): Command {
  return command
    .optionsGroup("Documents:")
    .option("--allow-secrets", "send documents that contain a key of the profile or a private key")
    .option("--no-lint", "check documents for secrets alone, not with other rules of level error");
}

/** Which of the documents found are taken. */
export function addSelectionOptions(command: Command): Command {
  return command
    .optionsGroup("Which files:")
    .option("--since <commit>", "only files that changed since a commit, a tag or a branch", filled)
    .option("--shard <i/n>", "part i of n equal parts, for n parallel runs", shard)
    .option("--allow-empty", "no document found is no error");
}

/** Where the documents go, and where that is recorded. */
export function addTargetOptions(command: Command): Command {
  command
    .optionsGroup("Target:")
    .option("--cc-pair-id <id>", "connector/credential pair of the documents", positive)
    .option("--connector <name>", "the same, by connector name", filled);
  return addStateOption(command);
}

/** Where documents go, and the record, which may be shared; a removal needs that of all machines. */
export function addRecordedTargetOptions(command: Command, removes = false): Command {
  return (removes ? addSharedOptions : addRecordOptions)(addTargetOptions(command));
}

/** Which pairs documents may go to. */
export function addAccessOptions(command: Command): Command {
  return command
    .optionsGroup("Target:")
    .option(
      "--require-access <type>",
      "only pairs of this access type: private, sync, public (repeatable)",
      collectParsed(choice("private", "sync", "public")),
    )
    .option(
      "--allow-sync",
      "upload to a pair of access type sync, although nobody finds the documents",
    )
    .option("--allow-pruned", "upload to a pair whose connector deletes what it did not crawl");
}

/** What an upload may replace. */
export function addOverwriteOption(command: Command): Command {
  return command
    .optionsGroup("Upload:")
    .option("--overwrite", "replace documents that only another pair has");
}

/** Options for the reports of a run. */
export function addReportOptions(command: Command): Command {
  return command
    .optionsGroup("Reports:")
    .option("--report <file>", reportText, collectParsed(filled))
    .option("--gitlab-report <file>", "write failures as a GitLab code quality report", filled);
}

/** Who is told how a run ended. */
export function addNotifyOption(command: Command): Command {
  return command
    .optionsGroup("Reports:")
    .option(
      "--notify <target>",
      "tell an https address or a command how the run ended, as JSON (repeatable)",
      collectParsed(filled),
    );
}

/** How fast requests are made. */
export function addPaceOptions(command: Command): Command {
  return command
    .optionsGroup("Upload:")
    .option("--concurrency <number>", "requests in flight (default: 8)", integer(1, 256))
    .option("--rate <number>", "documents per second, at most", perSecond(0.001, 1_000_000));
}

/** How documents are sent. */
export function addUploadOptions(command: Command): Command {
  return addPaceOptions(command)
    .option("--dry-run", "show the plan; send nothing")
    .option("--exit-code", "with --dry-run: exit 12 if there are changes")
    .option(
      "--price-per-million <number>",
      "with --dry-run: price of a million tokens, to estimate what indexing costs",
      decimal(0, 1_000_000),
    )
    .option(
      "--max-failures <number>",
      "stop after this many failed documents",
      integer(1, 1_000_000),
    );
}

/** What `ingest -` reads. */
export function addStdinOptions(command: Command): Command {
  return command.optionsGroup("Which files:").option("--id <id>", "id of the document on stdin");
}

/** How long an upload or a check waits for the index. */
export function addWaitOption(command: Command): Command {
  return command
    .optionsGroup("Checks:")
    .option(
      "--wait <duration>",
      "keep asking for what is not there yet: 30s, 2m (default: 0; of ingest: 30s)",
      duration,
    );
}
