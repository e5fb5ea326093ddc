// The parts of the proof: what `npm run prove` runs, in this order. A new part is one line here.
import { corporaPart } from "./corpora-part.js";
import { diskPart } from "./disk.js";
import { enginesPart } from "./engines.js";
import { faultsPart } from "./faults.js";
import { hostilePart } from "./hostile.js";
import { killPart } from "./kill.js";
import { propertiesPart } from "./properties.js";
import { modelPart } from "./model.js";
import { networkPart } from "./network.js";

/**
 * A part: `about` completes "tries …"; `minutes` is its share of half an hour (the last part also has the
 * time that the others leave); `options` are its own, beside --seconds and --seed; `hasNoSeed`: it chooses
 * nothing. `run({ seconds, seed, … })` resolves with a result: `tried` and `held` (lines),
 * `violated` ({ what, replay }), or `skipped` (why it cannot run here).
 */
export const parts = {
  model: {
    about: "random sequences of commands against a service on this machine",
    minutes: 4,
    options: ["sequences", "shrink", "dialect"],
    run: modelPart,
  },
  corpora: {
    about: "documents, read by this tool and by the readers that are installed",
    minutes: 1,
    hasNoSeed: true,
    options: ["show", "json", "site", "main", "convert"],
    run: corporaPart,
  },
  faults: {
    about:
      "each class of requests with each sequence of faults, against a service on a bare socket",
    minutes: 3,
    hasNoSeed: true,
    options: ["case"],
    run: faultsPart,
  },
  disk: {
    about: "a disk that is full, broken or read-only, at each system call that saves",
    minutes: 3,
    options: ["case"],
    run: diskPart,
  },
  hostile: {
    about: "every command in a folder of traps, against a service whose texts attack the terminal",
    minutes: 3,
    hasNoSeed: true,
    options: ["case"],
    run: hostilePart,
  },
  network: {
    about: "proxies, certificates and names, and lines that cut, delay and break",
    minutes: 3,
    options: [],
    run: networkPart,
  },
  engines: {
    about: "workers on one record in PostgreSQL, which are killed while the database is stopped",
    minutes: 3,
    options: ["rounds"],
    run: enginesPart,
  },
  watch: {
    about: "a folder that changes all day under a watch, with a clock of its own, through outages",
    minutes: 2,
    options: ["runs"],
    run: (options) =>
      propertiesPart(
        "watch",
        { runs: "10000", ...options },
        "after each round the service equals the folder; each outage is reported once; memory and open files stay flat",
      ),
  },
  redaction: {
    about: "keys in every spelling, in everything that a service or a file says",
    minutes: 2,
    options: ["runs"],
    run: (options) => propertiesPart("redaction", options),
  },
  kill: {
    about: "kill -9 of commands that write, at random moments and at system calls that save",
    minutes: 6,
    options: ["kills"],
    run: killPart,
  },
};

/** The part of this name; any other name is that of properties below test/. */
export const partOf = (name) =>
  parts[name] ?? {
    about: `properties of test/${name}`,
    minutes: 1,
    options: ["runs"],
    run: (options) => propertiesPart(name, options),
  };
