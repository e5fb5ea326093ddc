#!/usr/bin/env node
// CommonJS and old syntax: it starts at the speed of bare Node, and an old Node can still say what is wrong.
"use strict";

var fs = require("node:fs");

function writeAll(fd, text) {
  if (fd === 1 && isStdoutClosed()) {
    process.exitCode = 14;
    fs.writeSync(2, "error: cannot write the output: stdout is closed\n");
    return;
  }
  var bytes = Buffer.from(text);
  var written = 0;
  while (written < bytes.length) {
    try {
      written += fs.writeSync(fd, bytes, written);
    } catch (error) {
      // A non-blocking pipe is full: hand the rest to the stream, which waits for it.
      if (error.code === "EAGAIN") return void process.stdout.write(bytes.subarray(written));
      if (error.code === "EPIPE") return;
      process.exitCode = 14;
      var why = error.code === "ENOSPC" ? "the disk is full" : "the system reports " + error.code;
      fs.writeSync(2, "error: cannot write the output: " + why + "\n");
      return;
    }
  }
}

function isNothing(fd) {
  try {
    return fs.fstatSync(fd).rdev === fs.statSync("/dev/null").rdev;
  } catch {
    return false;
  }
}

var shells = ["sh", "bash", "dash", "ash", "busybox", "ksh", "mksh", "zsh", "fish"];

/**
 * Whether stdout was closed before the start. Node then opens /dev/null in its place, for reading and
 * writing. Programs that discard output do the same (Node's "ignore", Python's DEVNULL); a shell does
 * not: its `> /dev/null` cannot be read. Where neither is known the output counts as discarded.
 */
function isStdoutClosed() {
  if (!isNothing(1)) return false;
  try {
    fs.readSync(1, Buffer.alloc(1));
    var parent = "/proc/" + process.ppid;
    if (shells.indexOf(fs.readFileSync(parent + "/comm", "utf8").trim()) < 0) return false;
    if (!fs.existsSync(parent + "/fd/1")) return true;
    return fs.statSync(parent + "/fd/1").rdev !== fs.statSync("/dev/null").rdev;
  } catch {
    return false;
  }
}

function supported(version) {
  var parts = version.split(".");
  return Number(parts[0]) > 20 || (Number(parts[0]) === 20 && Number(parts[1]) >= 19);
}

/** Of pipes, files and /dev/null, node:tty is not asked: loading it would take as long as all the rest. */
function isTerminal(fd) {
  return fs.fstatSync(fd).isCharacterDevice() && !isNothing(fd) && require("node:tty").isatty(fd);
}

function isVersion(arg) {
  return arg === "--version" || arg === "-V";
}

/** Texts are made for 80 columns; on a narrower terminal the program makes them. */
function isNarrow() {
  return isTerminal(1) && process.stdout.columns > 0 && process.stdout.columns < 80;
}

function ownMember(object, name) {
  return Object.prototype.hasOwnProperty.call(object, name) ? object[name] : undefined;
}

/** Version or help, where the arguments ask for nothing else; undefined for all others. */
function staticAnswer(args) {
  var last = args[args.length - 1];
  // On a terminal `knowctl` alone may ask a question after the help.
  if (args.length === 0 && isTerminal(0) && isTerminal(1) && isTerminal(2)) return undefined;
  var asksVersion = isVersion(last) || isVersion(args[0]);
  var asksTopic = args.length === 2 && args[0] === "help";
  var asksHelp = args.length === 0 || last === "--help" || last === "-h" || asksTopic;
  if (!asksVersion && (!asksHelp || isNarrow())) return undefined;
  // The texts of the commands are a hundred times as long.
  var isWhole = asksVersion || args.length < 2;
  var texts = load(function () {
    return isWhole ? require("../dist/help.json") : require("../dist/help-commands.json");
  });
  if (asksVersion) return texts.version;
  if (asksTopic) return ownMember(texts.topics, last);
  return ownMember(last === "--help" ? texts.full : texts.short, args.slice(0, -1).join(" "));
}

/** What the completion script of a shell asks for. Without the rest of the tool: a Tab must be fast. */
function answerShell(args) {
  var place = {
    env: process.env,
    cwd: process.cwd(),
    uid: process.geteuid ? process.geteuid() : -1,
    now: Date.now(),
  };
  void load(function () {
    return require("../dist/complete.cjs");
  })
    .complete(
      args,
      load(function () {
        return require("../dist/completion.json");
      }),
      place,
    )
    .then(function (answer) {
      writeAll(1, answer);
    });
}

/** A clone holds no dist/ before it is built; whatever else is thrown here is a bug. */
function load(part) {
  try {
    return part();
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND" || fs.existsSync(__dirname + "/../dist/main.cjs"))
      throw error;
    fs.writeSync(
      2,
      "error: knowctl is not built: dist/ is missing\n  → run `npm ci` and `npm run build` in its folder\n",
    );
    process.exit(2);
  }
}

/** Files of the package that commands use. */
function packageFiles() {
  return {
    workerScript: require.resolve("../dist/worker.cjs"),
    handbook: require("node:path").join(__dirname, "..", "examples", "handbook"),
  };
}

/** Node ends with 0 where nothing is left to wait for, also in the middle of a command. */
function refuseEarlyEnd(code) {
  if (code !== 0) return;
  process.exitCode = 1;
  fs.writeSync(
    2,
    "error: unexpected: knowctl ended before the command did\n  → this is a bug in knowctl; run again with --debug and report it\n",
  );
}

function leave() {
  if (process.stdout.writableLength > 0) process.exit();
}

function run() {
  if (!supported(process.versions.node)) {
    fs.writeSync(2, "error: knowctl needs Node 20.19 or newer, this is " + process.version + "\n");
    process.exitCode = 2;
    return;
  }
  var args = process.argv.slice(2);
  if (args[0] === "__complete") return answerShell(args.slice(1));
  var answer = staticAnswer(args);
  if (answer !== undefined) return writeAll(1, answer);
  var context = load(function () {
    return require("../dist/context.cjs");
  });
  var system = context.systemContext(packageFiles(), isStdoutClosed());
  process.once("exit", refuseEarlyEnd);
  void load(function () {
    return require("../dist/main.cjs");
  })
    .main(args, system)
    .then(function (code) {
      process.removeListener("exit", refuseEarlyEnd);
      process.exitCode = code;
      // Output that nobody reads keeps the process alive; a signal must end it.
      if (system.signal.aborted) return leave();
      system.signal.addEventListener("abort", leave);
    });
}

run();
