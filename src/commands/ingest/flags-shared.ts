import type { Command } from "commander";
import {
  choice,
  collect,
  collectParsed,
  filled,
  integer,
  perSecond,
  positive,
  shard,
  webAddress,
} from "../../surface/options.ts";

const formats = choice(
  "markdown",
  "mdx",
  "text",
  "rst",
  "asciidoc",
  "html",
  "docx",
  "pdf",
  "json",
  "ndjson",
  "csv",
  "tsv",
);

/** Flags that decide which files are taken and how they map; shared with its subcommands. */
export function addMappingOptions(command: Command): Command {
  return command
    .option("--include <glob>", "take only files that match (repeatable)", collect)
    .option("--exclude <glob>", "leave out files that match (repeatable)", collect)
    .option("--no-ignore", "do not skip hidden files and what .gitignore or .knowctlignore name")
    .option("--id-prefix <text>", "put in front of every path-derived id")
    .option("--source <type>", "document source type (default: file)", filled)
    .option("--sections <mode>", "whole or headings (default: whole)", choice("whole", "headings"))
    .option(
      "--anchors <style>",
      "how headings become link anchors: github, docusaurus, mkdocs",
      choice("github", "docusaurus", "mkdocs"),
    )
    .option(
      "--max-section-chars <number>",
      "split longer sections at paragraphs",
      integer(200, 10_000_000),
    )
    .option("--link <template>", "link of a document: {path} {dir} {name} {slug} {id} or a key")
    .option("--link-base <url>", "what relative links are joined to", webAddress)
    .option("--metadata <key=value>", "add metadata (repeatable)", collect)
    .option("--tag <tag>", "add a tag (repeatable)", collectParsed(filled))
    .option(
      "--updated-at <source>",
      "where a missing date comes from: git or mtime",
      choice("git", "mtime"),
    )
    .option("--owners <source>", "where missing owners come from: codeowners", choice("codeowners"))
    .option("--meta-commit", "add the last commit of each file as metadata source_commit")
    .option(
      "--images <mode>",
      "images of the project: skip or upload (default: skip)",
      choice("skip", "upload"),
    )
    .option(
      "--map <field=column>",
      "columns of rows: title=name,text=body (repeatable)",
      collectParsed(filled),
    )
    .option("--format <name>", "how named files, or stdin, are read: markdown, csv, pdf …", formats)
    .option("--drafts", "send documents marked draft: true as well")
    .option(
      "--drop-access",
      "send documents without members that restrict who may read them; the pair decides",
    );
}

/** What may be in the documents. */
export function addContentOptions(command: Command): Command {
  return command.option(
    "--allow-secrets",
    "send documents that hold a key of the profile or a private key",
  );
}

/** Which of the documents found are taken. */
export function addSelectionOptions(command: Command): Command {
  return command
    .option(
      "--since <commit>",
      "take only files that changed since a commit, a tag or a branch",
      filled,
    )
    .option("--shard <i/n>", "take one of n equal parts, by hash of the id, for n runs", shard)
    .option("--allow-empty", "finding no document is no error");
}

/** Where the documents go, and where that is recorded. */
export function addTargetOptions(command: Command): Command {
  return command
    .option("--cc-pair-id <id>", "connector/credential pair to upload to", positive)
    .option("--connector <name>", "the same, by connector name", filled)
    .option(
      "--state <dir>",
      "folder of the state store (default: .knowctl in the project root)",
      filled,
    );
}

/** Which pairs documents may go to. */
export function addAccessOptions(command: Command): Command {
  return command
    .option(
      "--require-access <type>",
      "refuse pairs of another access type: private, sync, public (repeatable)",
      collectParsed(choice("private", "sync", "public")),
    )
    .option("--allow-sync", "upload to a pair of access type sync, where nobody finds documents");
}

/** What an upload may replace. */
export function addOverwriteOption(command: Command): Command {
  return command.option(
    "--no-overwrite",
    "refuse documents that the service has and that are not recorded here",
  );
}

/** Options for the reports of a run. */
export function addReportOptions(command: Command): Command {
  return command
    .option(
      "--report <file>",
      "write the run to a .json, .xml or .html file (repeatable)",
      collectParsed(filled),
    )
    .option("--gitlab-report <file>", "write the failures as a GitLab code quality report", filled);
}

/** How fast requests are made. */
export function addPaceOptions(command: Command): Command {
  return command
    .option("--concurrency <number>", "most requests in flight (default: 8)", integer(1, 256))
    .option("--rate <number>", "most documents per second", perSecond(0.001, 1_000_000));
}

/** How documents are sent. */
export function addUploadOptions(command: Command): Command {
  return addPaceOptions(command)
    .option("--dry-run", "show what would be sent and send nothing")
    .option("--exit-code", "with --dry-run: exit 12 when there is work")
    .option(
      "--max-failures <number>",
      "stop after this many failed documents",
      integer(1, 1_000_000),
    );
}

/** What `ingest -` reads. */
export function addStdinOptions(command: Command): Command {
  return command.option("--id <id>", "id of the one document on stdin");
}
