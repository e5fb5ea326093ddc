import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "./project.ts";
import { note, type Run } from "./run.ts";
import type { Step } from "./steps.ts";
import { contentOf, isRowFile, type FileState } from "./world.ts";

function write(run: Run, project: Project, path: string, file: FileState): void {
  const known = project.files.get(path);
  if (known) run.before.set(join(project.folder, path), known);
  project.files.set(path, file);
  const text = contentOf(path, file);
  writeFileSync(join(project.folder, path), text);
  note(run, `printf %s ${JSON.stringify(text)} >${project.name}/${path}`);
}

function remove(run: Run, project: Project, path: string): void {
  project.files.delete(path);
  rmSync(join(project.folder, path));
  note(run, `rm ${project.name}/${path}`);
}

/** A file with new content; front matter stays. */
export function edit(run: Run, project: Project, path: string): void {
  const marker = run.nextMarker();
  const known = project.files.get(path);
  if (!isRowFile(path)) return write(run, project, path, { ...known, marker });
  write(run, project, path, {
    marker,
    rows: new Map([
      ["r1", marker],
      ["r2", run.nextMarker()],
    ]),
  });
}

function rename(run: Run, project: Project, path: string, to: string): void {
  const file = project.files.get(path);
  const sameKind = /\.\w+$/.exec(path)?.[0] === /\.\w+$/.exec(to)?.[0];
  if (!file || path === to || project.files.has(to) || !sameKind) return;
  // The content of rows names the file: the new name has new ids.
  if (file.rows) {
    remove(run, project, path);
    return write(run, project, to, file);
  }
  project.files.delete(path);
  project.files.set(to, file);
  renameSync(join(project.folder, path), join(project.folder, to));
  note(run, `mv ${project.name}/${path} ${project.name}/${to}`);
}

function changeRow(run: Run, project: Project, step: Extract<Step, { do: "row" }>): void {
  const file = project.files.get(step.path);
  if (!file?.rows) return edit(run, project, step.path);
  const rows = new Map(file.rows);
  if (step.how === "remove") rows.delete(step.key);
  else rows.set(step.key, run.nextMarker());
  // A file without a row is another matter than a row that is gone.
  if (rows.size > 0) write(run, project, step.path, { ...file, rows });
}

/** Makes a file or a configuration that marks the project's root. */
export function mark(run: Run, { name, folder }: Project, how: "git" | "config"): void {
  if (how === "git") mkdirSync(join(folder, ".git"), { recursive: true });
  else writeFileSync(join(folder, ".cliconfig.json"), "{}\n");
  note(run, how === "git" ? `git init -q ${name}` : `echo {} >${name}/.cliconfig.json`);
}

function ignore(run: Run, project: Project, path: string, on: boolean): void {
  // Without a marked root it is not said which ignore files count.
  if (![".git", ".cliconfig.json"].some((each) => existsSync(join(project.folder, each)))) return;
  if (on) project.ignored.add(path);
  else project.ignored.delete(path);
  const text = [...project.ignored].map((each) => `/${each}\n`).join("");
  writeFileSync(join(project.folder, ".knowctlignore"), text);
  note(run, `printf ${JSON.stringify(text)} >${project.name}/.knowctlignore`);
}

/** Does a step that changes the folder alone. Gives false for any other step. */
export function changeFolder(run: Run, step: Step): boolean {
  const project = run.projects[step.project]!;
  const known = "path" in step ? project.files.get(step.path) : undefined;
  const change = (part: Partial<FileState>): void => {
    if (known && "path" in step) write(run, project, step.path, { ...known, ...part });
  };
  switch (step.do) {
    case "edit":
      edit(run, project, step.path);
      return true;
    case "revert": {
      const before = run.before.get(join(project.folder, step.path));
      if (known && before) write(run, project, step.path, before);
      return true;
    }
    case "remove":
      if (known) remove(run, project, step.path);
      return true;
    case "own-id": {
      const { ownId: _old, ...rest } = known ?? { marker: 0 };
      const ownId = step.id === undefined ? {} : { ownId: `${project.name}-${step.id}` };
      if (known) write(run, project, step.path, { ...rest, ...ownId });
      return true;
    }
    case "opt-out": {
      const { optOut: _old, ...rest } = known ?? { marker: 0 };
      const optOut = step.how === undefined ? {} : { optOut: step.how };
      if (known) write(run, project, step.path, { ...rest, ...optOut, broken: false });
      return true;
    }
    case "break":
      if (known?.optOut === undefined) change({ broken: step.on });
      return true;
    case "ignore":
      ignore(run, project, step.path, step.on);
      return true;
    case "rename":
      rename(run, project, step.path, step.to);
      return true;
    case "row":
      changeRow(run, project, step);
      return true;
    case "mark":
      mark(run, project, step.how);
      return true;
    default:
      return false;
  }
}
