import { describe, expect, it } from "vitest";
import { findSimilar, signatureOf, wordsOf } from "../../../../src/checks/lint/page/similar.ts";
import { proseSentences } from "../../../../src/checks/lint/page/claims.ts";
import {
  nearDuplicate,
  numbersDisagree,
} from "../../../../src/checks/lint/rules/near-duplicates.ts";
import { expectLinear } from "../../../cost.ts";
import { byCause, byPlace } from "../../../../src/checks/lint/folder.ts";
import { findingWith } from "../finding.ts";
import { check, lint as linesOf, openPages } from "./pages.ts";

/** What `lint` shows: one finding for each cause. */
const lint: typeof linesOf = async (rule, files, options) => {
  if (rule.name !== nearDuplicate.name) return await linesOf(rule, files, options);
  const found = check(rule, await openPages(files, options)).map((each) =>
    findingWith({ rule: rule.name, ...each }),
  );
  return byCause(found.sort(byPlace)).map(({ path, message }) => `${path}: ${message}`);
};

/** Words in an order that depends on the seed. */
function textOf(seed: number, words: number): string[] {
  let state = seed;
  return Array.from({ length: words }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return `word${(state >> 8) % 5000}`;
  });
}

function shinglesOf(words: readonly string[]): Set<string> {
  return new Set(words.slice(4).map((_, index) => words.slice(index, index + 5).join(" ")));
}

const signatureText = (text: string): string => signatureOf([text])!;

describe("signatures", () => {
  it.each([0, 5, 20, 60, 200])(
    "estimate the share of common sequences: %d changed words",
    (changed) => {
      for (const seed of [1, 2, 3]) {
        const one = textOf(seed, 1000);
        const other = one.map((word, index) =>
          index % (1000 / (changed || 1)) < 1 && changed > 0 ? `x${index}` : word,
        );
        const [a, b] = [shinglesOf(one), shinglesOf(other)];
        const common = [...a].filter((each) => b.has(each)).length;
        const exact = common / (a.size + b.size - common);
        const texts = [one, other].map((words) => signatureText(words.join(" ")));
        const [found] = findSimilar(texts, 0);
        // Pairs that share little need not meet in a band.
        if (exact > 0.7) expect(found).toBeDefined();
        if (found) expect(Math.abs(found.similarity - exact)).toBeLessThan(0.16);
      }
    },
  );

  it("treat each character of Chinese and Japanese as a word", () => {
    expect([...wordsOf("员工a有28天 Urlaub")]).toEqual([
      "员",
      "工",
      "a",
      "有",
      "28",
      "天",
      "urlaub",
    ]);
  });

  it("ignore case, marks and white space", () => {
    const words = textOf(1, 100);
    const [one, other] = [words.join(" "), words.join(",\n\n* ").toUpperCase()];
    expect(signatureText(one)).toBe(signatureText(other));
  });

  it("cost linear time for 20,000 equal texts, with one comparison for each", () => {
    const same = signatureText(textOf(1, 200).join(" "));
    const texts = Array.from({ length: 20_000 }, () => same);
    let compared = 0;
    const found = [...findSimilar(texts, 0.8, () => compared++)];
    expect(found).toHaveLength(19_999);
    expect(new Set(found.map(({ first }) => first))).toEqual(new Set([0]));
    expect(compared).toBe(19_999);
  });

  it("are compared with few others, although all texts share a half", () => {
    const shared = textOf(1, 300);
    const texts = Array.from({ length: 3000 }, (_, seed) =>
      signatureText([...shared, ...textOf(seed + 2, 150)].join(" ")),
    );
    let compared = 0;
    const found = [...findSimilar(texts, 0.8, () => compared++)];
    expect(found.length).toBeLessThan(10);
    expect(compared).toBeLessThan(3000 * 160);
  });

  it("of a page of 10 MB cost linear time", () => {
    const sentence =
      "Employees have 28 days of leave and ask their team lead for leave in the portal ";
    expectLinear(4_000_000, (size) => signatureOf([sentence.repeat(size / sentence.length)]));
  });
});

const leave =
  "Employees have 28 days of leave in each calendar year. Ask your team lead for leave in the portal, at " +
  "least two weeks before the first day. The team lead answers within three working days. You can carry " +
  "five days over to the next year, and you use them until the end of March. A doctor's note stops your " +
  "leave: the days of illness come back to your account. Part-time employees have leave in proportion.";
const urlaub =
  "员工每年有二十八天假期。请至少提前两周在门户中向您的团队负责人申请休假。团队负责人会在三个工作日内答复。" +
  "您可以将五天结转到下一年，并在三月底之前使用。医生证明会中断您的休假：病假天数会退回您的账户。" +
  "兼职员工按比例享有假期。如有疑问请写信给人事部门。新员工在试用期内也可以休假，但每月不超过两天。";

describe("near duplicates", () => {
  it("of more than three documents with one are one finding", async () => {
    const text = textOf(1, 200).join(" ");
    const files: Record<string, string> = {};
    for (const name of ["a", "b", "c", "d", "e"]) files[`${name}.md`] = `${text} ${name}\n`;
    expect(await lint(nearDuplicate, files)).toEqual([
      expect.stringMatching(
        /^b\.md: the text is nearly that of a\.md: .*; 4 documents have its text, or nearly$/,
      ),
    ]);
    delete files["e.md"];
    expect(await lint(nearDuplicate, files)).toHaveLength(3);
  });

  it("of pages beside them in another format are one finding", async () => {
    const files: Record<string, string> = {};
    for (let index = 0; index < 4; index++) {
      const text = textOf(index + 1, 200).join(" ");
      files[`a/${index}/index.md`] = text;
      files[`a/${index}/index.html.md`] = text;
    }
    expect(await lint(nearDuplicate, files)).toEqual([
      "a/0/index.md: the text is that of a/0/index.html.md; 4 documents have the text of the one beside them in another format, or nearly",
    ]);
  });

  it("of a folder and its copy are one finding, of few files one for each", async () => {
    const copies = (count: number): Record<string, string> => {
      const files: Record<string, string> = {};
      for (let index = 0; index < count; index++) {
        const text = textOf(index + 1, 200).join(" ");
        files[`v1/guide/${index}.md`] = text;
        files[`v2/guide/${index}.md`] = text;
      }
      return files;
    };
    expect(await lint(nearDuplicate, copies(3))).toHaveLength(3);
    expect(await lint(nearDuplicate, copies(4))).toEqual([
      "v2/guide/0.md: the text is that of v1/guide/0.md; 4 documents have the text of one with the same name elsewhere, or nearly",
    ]);
    // Of several versions too, and of posts of other days, whatever else is the same.
    const [text = "", other = ""] = Object.values(copies(2)).filter((_, at) => at % 2 === 0);
    const files = {
      "v1/2025-01-01-a.md": text,
      "v1/b.md": other,
      "v2/2025-01-02-a.md": text,
      "v2/b.md": other,
      "v3/2025-01-03-a.md": text,
      "v3/b.md": other,
      "z.md": text,
    };
    expect(await lint(nearDuplicate, files)).toEqual([
      expect.stringMatching(/^v2\/2025-01-02-a\.md: .*; 4 documents have/),
      "z.md: the text is that of v1/2025-01-01-a.md",
    ]);
  });

  it("are reported at the later documents, with the first one", async () => {
    const files = {
      "a.md": `# A\n\n${leave}\n`,
      "b.md": `# A\n\n${leave}\n`,
      "c.md": `# A\n\n${leave} More questions go to people@example.com.\n`,
      "d.md": `# D\n\n${leave.split(" ").toReversed().join(" ")}\n`,
      "e.md": `# A\n\n${urlaub}\n`,
      "f.md": `# A\n\n${urlaub.replace("病假", "生病")}\n`,
    };
    const found = await lint(nearDuplicate, files);
    expect(found.map((line) => line.replace(/about \d\d %.*/, "N"))).toEqual([
      "b.md: the text is that of a.md",
      "c.md: the text is nearly that of a.md: N",
      "f.md: the text is nearly that of e.md: N",
    ]);
  });

  it("of one text are one finding, also of two copies", async () => {
    const files = { "a/x.txt": leave, "b/x.md": leave, "c/y.md": leave };
    expect(await lint(nearDuplicate, files)).toEqual([
      "b/x.md: the text is that of a/x.txt; 2 documents have its text",
    ]);
  });

  it("are other languages and versions only with the same text", async () => {
    const files = {
      "en/a.md": `# A\n\n${leave}\n`,
      "en/b.md": `# A\n\n${leave} One word more.\n`,
      "de/a.md": `# A\n\n${leave} Two words more.\n`,
      "v1/a.md": `# A\n\n${leave} Even more.\n`,
      "v2/a.md": `# A\n\n${leave} Even more.\n`,
      "v3/a.md": `# A\n\n${leave} And even more.\n`,
    };
    const found = await lint(nearDuplicate, files);
    expect(found.map((line) => line.replace(/about \d\d %.*/, "N"))).toEqual([
      "en/b.md: the text is nearly that of en/a.md: N",
      "v2/a.md: the text is that of v1/a.md",
    ]);
  });

  it("are no pages with the same example and words of their own", async () => {
    const code = `\`\`\`\n${leave.repeat(4)}\n\`\`\`\n`;
    const words = (word: string): string => `${word} ${word}s ${word}ed. `.repeat(20);
    const page = (word: string): string => `# ${word}\n\n${words(word)}\n\n${code}`;
    expect(await lint(nearDuplicate, { "a.md": page("lift"), "b.md": page("desk") })).toEqual([]);
    expect(await lint(nearDuplicate, { "a.md": code, "b.md": code })).toHaveLength(1);
  });

  it("are no objects of one reference, unless their texts are equal", async () => {
    const page = (title: string, word: string): string =>
      `# ${title}\n\n${leave} ${leave} ${word}\n`;
    const files = (one: string, other: string, word: string) => ({
      "a.md": page(one, "one"),
      "b.md": page(other, word),
    });
    expect(await lint(nearDuplicate, files("Leave", "Holidays", "two"))).toHaveLength(1);
    for (const name of ["hasLeave", "rooms.leave", "leave()"])
      expect(await lint(nearDuplicate, files("Leave", name, "two")), name).toEqual([]);
    expect(await lint(nearDuplicate, files("Leave", "Holidays", "`Holidays`"))).toEqual([]);
    const equal = {
      "a.md": `# HasLeave\n\n${leave}\n`,
      "b.md": `---\ntitle: B\n---\n# HasLeave\n\n${leave}\n`,
    };
    expect(await lint(nearDuplicate, equal)).toHaveLength(1);
  });

  it("are no versions that Docusaurus makes by copies", async () => {
    const page = `# Leave\n\n${leave}\n`;
    const files = { "docs/a.md": page, "versioned_docs/version-1.0/a.md": page };
    expect(await lint(nearDuplicate, files)).toEqual([]);
  });

  it("are one finding for files of the same name below two folders", async () => {
    const files: Record<string, string> = {};
    for (const [at, name] of ["room", "desk", "lift", "stair"].entries()) {
      const page = `# ${name}\n\n${leave} ${`${name} ${name}s ${at}. `.repeat(30)}\n`;
      files[`skills/parts/${name}.md`] = page;
      files[`packages/p${at}/${name}/index.md`] = page;
    }
    expect(await lint(nearDuplicate, files)).toEqual([
      "skills/parts/desk.md: the text is that of packages/p1/desk/index.md; 4 documents have the text of one with the same name elsewhere, or nearly",
    ]);
  });

  it("are releases, named by their versions, only with the same text", async () => {
    const notes = (version: string): string => `# Release ${version}\n\n${leave}\n`;
    const files = {
      "releases/2.8.1.md": notes("2.8.1"),
      "releases/2.8.2.md": notes("2.8.2"),
      "releases/notes-3-0.md": notes("3.0"),
      "releases/june-report.md": notes("June"),
      "releases/report_july.md": notes("July"),
      "releases/2024.md": notes("2024"),
      "releases/2025.md": notes("2024"),
    };
    expect(await lint(nearDuplicate, files)).toEqual([
      "releases/2025.md: the text is that of releases/2024.md",
    ]);
  });

  it("of two titles are described by one form, unless nearly all of the text is the same", async () => {
    const page = (title: string, end: string): string => `# ${title}\n\n${leave} ${end}\n`;
    const [here, there] = ["Ask Ada about it in room 12.", "Write to the desk for the form."];
    expect(
      await lint(nearDuplicate, { "a.md": page("A", here), "b.md": page("B", there) }),
    ).toEqual([]);
    expect(
      await lint(nearDuplicate, { "a.md": page("A", here), "b.md": page("A", there) }),
    ).toHaveLength(1);
    expect(
      await lint(nearDuplicate, { "a.md": page("A", here), "b.md": page("B", here) }),
    ).toHaveLength(1);
  });

  it("of one page in several folders are one finding, whatever the names of the files are", async () => {
    const page = `# A\n\n${leave}\n`;
    const files = {
      "index.md": page,
      "a/index.md": page,
      "b/index.md": page,
      "c/index.md": page,
      "d/other.md": page,
    };
    expect(await lint(nearDuplicate, files)).toEqual([
      "b/index.md: the text is that of a/index.md; 4 documents have its text, or nearly",
    ]);
  });

  it("are not those whose text is included: it is written once", async () => {
    const page = (title: string): string => `= ${title}\n\ninclude::_leave.adoc[]\n`;
    const files = { "_leave.adoc": `${leave}\n`, "a.adoc": page("A"), "b.adoc": page("B") };
    expect(await lint(nearDuplicate, files)).toEqual([]);
    const own = (title: string): string => `= ${title}\n\n${leave}\n`;
    expect(await lint(nearDuplicate, { "a.adoc": own("A"), "b.adoc": own("B") })).toHaveLength(1);
  });

  it("are not found in short texts: they are equal by their form", async () => {
    const short = "# A\n\nSee the other page. It says more.\n";
    expect(await lint(nearDuplicate, { "a.md": short, "b.md": short })).toEqual([]);
  });
});

const differ = (one: string, two: string): Promise<string[]> =>
  lint(numbersDisagree, { "a.md": `# A\n\n${one}\n`, "b.md": `# B\n\nText before. ${two}\n` });

describe("numbers", () => {
  it.each([
    [
      "Employees get 28 days of leave in each year.",
      "Employees get 30 days of leave in each year.",
      "28",
    ],
    [
      "Employees get 28 days\nof leave in each year.",
      "Employees **get** 30 days of leave\nin each year.",
      "28",
    ],
    [
      "The fee is $1,200 for each new customer.",
      "The fee is $1,500 for each new customer.",
      "1,200",
    ],
    ["Uploads stop at a limit of 5 MB a file.", "Uploads stop at a limit of 10 MB a file.", "5"],
    [
      "Die Probezeit endet nach 3 Monaten für alle.",
      "Die Probezeit endet nach 6 Monaten für alle.",
      "3",
    ],
    ["员工每年可以享受28天的带薪年假。", "员工每年可以享受30天的带薪年假。", "28"],
    [
      "- Employees get [28 days](b.md) of leave a year.",
      "Employees get 30 days of leave a year.",
      "28",
    ],
  ])("that differ in a sentence disagree: %j", async (one, two, number) => {
    const found = await differ(one, two);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(
      new RegExp(`^b\\.md:3:14: these two disagree: .* but a\\.md says ${number}$`),
    );
  });

  it.each([
    [
      "3.2 will have fixes for about 18 months in all.",
      "3.3 will have fixes for about 18 months in all.",
    ],
    [
      "Install the tool with Node 18 or later first.",
      "Install the tool with Node 20 or later first.",
    ],
    [
      "The office opens on 5 May for all employees.",
      "The office opens on 6 May for all employees.",
    ],
    [
      "The rules of 2023 hold for all employees here.",
      "The rules of 2024 hold for all employees here.",
    ],
    ["This page takes 5 minutes for most readers.", "This page takes 9 minutes for most readers."],
    [
      "The preceding form has 5 fields for each employee.",
      "The preceding form has 9 fields for each employee.",
    ],
    ["Go on with Step 2 of the same guide.", "Go on with Step 3 of the same guide."],
    ["| Employees get 28 days of leave a year. |", "| Employees get 30 days of leave a year. |"],
    [
      "```\nEmployees get 28 days of leave a year.\n```",
      "```\nEmployees get 30 days of leave a year.\n```",
    ],
    ["## Employees get 28 days of leave a year.", "Employees get 30 days of leave a year."],
    [
      "Send the key sk1234abcd within 28 days to us.",
      "Send the key sk1234abcd within 30 days to us.",
    ],
    ["You get 28 days.", "You get 30 days."],
    [
      "Must consist of at most 28 letters and digits.",
      "Must consist of at most 30 letters and digits.",
    ],
    [
      "Measure 11458866 looks at the rate of all calls.",
      "Measure 31458866 looks at the rate of all calls.",
    ],
  ])("that are names, dates, code or a form do not disagree: %j", async (one, two) => {
    expect(await differ(one, two)).toEqual([]);
  });

  it("are not compared between versions, within a document, and in forms that many fill in", async () => {
    const says = (days: number): string => `Employees get ${days} days of leave in each year.\n`;
    expect(await lint(numbersDisagree, { "v1/a.md": says(28), "v2/a.md": says(30) })).toEqual([]);
    expect(await lint(numbersDisagree, { "a.md": `${says(28)}\n${says(30)}` })).toEqual([]);
    const named = { "after-28-days.md": says(28), "after-30-days.md": says(30) };
    expect(await lint(numbersDisagree, named)).toEqual([]);
    // A post says what was true on its day.
    for (const folder of ["news/_posts/", "blog/2024-01-31-"]) {
      const posts = { "a.md": says(28), [`${folder}b.md`]: says(30) };
      expect(await lint(numbersDisagree, posts), folder).toEqual([]);
    }
    const form = { "a.md": says(1), "b.md": says(2), "c.md": says(3) };
    expect(await lint(numbersDisagree, form)).toEqual([]);
    expect(
      await lint(numbersDisagree, { "a.md": says(1), "b.md": says(1), "c.md": says(3) }),
    ).toHaveLength(1);
  });

  it("cost linear time in a page of 4 MB in one sentence", () => {
    expectLinear(10_000_000, (size) => [
      ...proseSentences("Employees get 28 days of leave and ".repeat(size / 36)),
    ]);
    expectLinear(1_000_000, (size) => [...proseSentences("A 1. ".repeat(size / 5))]);
  });
});
