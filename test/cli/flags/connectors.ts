import type { Coverage } from "./case.ts";

/** `connectors …`: flag by flag. */
export const connectors: Coverage = {
  "connectors list": {
    "--source": { flag: "--source web", stdout: { loses: /Shared drive/ } },
    "--access-type": { flag: "--access-type private", stdout: { loses: /Shared drive/ } },
    "--name": { flag: "--name *wiki", stdout: { loses: /Shared drive/ } },
    "--group": { flag: "--group 7", stdout: { loses: /Shared drive/ } },
    "--sort": [
      { flag: "--sort name", stdout: { gains: /^6\tEngineering/ } },
      { flag: "--sort colour", refused: /unknown key/ },
    ],
    "--reverse": { flag: "--reverse", stdout: { gains: /^8\t/ } },
    "--show-credentials": [
      { args: "--json", isTTY: true, flag: "--show-credentials", stdout: { loses: /\*\*\*/ } },
      { flag: "--show-credentials", refused: /only on a terminal/ },
      { isTTY: true, flag: "--show-credentials", refused: /columns of a table/ },
    ],
  },
  "connectors get": {
    "--source": [
      { args: "8", flag: "--source web", codes: [0, 9] },
      { args: ["Shared drive"], flag: "--source web", codes: [0, 9] },
    ],
    "--show-credentials": {
      args: "3",
      isTTY: true,
      flag: "--show-credentials",
      stdout: { loses: /\*\*\*/ },
    },
  },
  "connectors find": {
    "--source": {
      args: ["Shared drive"],
      flag: "--source web",
      codes: [0, 9],
      stdout: { loses: /^4\n$/ },
    },
  },
  "connectors status": {
    "--watch": [
      {
        dialect: "onyx",
        flag: "--watch 1",
        until: /Release notes/,
        codes: [0, 130],
        stdout: { gains: /^listed\t2/ },
      },
      { args: "--json", flag: "--watch 1", refused: /--watch and --output json/ },
    ],
  },
  "connectors errors": {
    "--resolved": {
      dialect: "onyx",
      args: "6",
      flag: "--resolved",
      stdout: { gains: /ENG\/glossary/ },
    },
  },
  "connectors create": {
    "--access-type": {
      dialect: "onyx",
      args: "Flags-{count} --json",
      flag: "--access-type private",
      stdout: { gains: /"access_type": "private"/ },
    },
    "--group": [
      {
        dialect: "onyx",
        args: "Flags-{count} --access-type private",
        after: "connectors list --name Flags-{count} --fields groups",
        flag: "--group 3",
        stdout: { gains: /^3$/m },
      },
      {
        dialect: "onyx",
        args: "Flags-{count}",
        flag: "--group 3",
        refused: /--access-type private/,
      },
    ],
  },
};
