import { describe, expect, it } from "vitest";
import { draftQuestions, meaningOf } from "../../../src/checks/eval/draft/questions.ts";

const filler =
  "The service reads the file from the folder and keeps it until you remove it, which can take some minutes. ";
const list = "- one\n- two\n- three\n- four\n";

/** The questions of a page in English with one section. */
const questionsOf = (title: string, heading: string, text = filler): string[] =>
  draftQuestions({ title, texts: [`# ${title}\n\n${filler}\n\n## ${heading}\n\n${text}\n`] }).map(
    ({ text: question }) => question,
  );

describe("questions of headings", () => {
  it.each([
    ["a question", "Leave", "How do I *request* leave?", "How do I request leave?"],
    ["an instruction", "Network", "Configure the proxy", "How do I configure the proxy?"],
    ["a gerund", "Backups", "Restoring a backup", "How do I restore a backup?"],
    ["a gerund without its e", "Backups", "Removing old backups", "How do I remove old backups?"],
    [
      "you behind a preposition",
      "Leave",
      "What does parental leave mean for you",
      "What does parental leave mean for me?",
    ],
    ["a gerund before its objects", "Backups", "Loading plugins", "How do I load plugins?"],
    ["a doubled letter", "Jobs", "Running your jobs", "How do I run my jobs?"],
    [
      "two instructions",
      "People",
      "Creating and deleting accounts",
      "How do I create and delete accounts?",
    ],
    ["a number in front", "Backups", "3. Restore a backup", "How do I restore a backup?"],
    ["a number of two levels", "Backups", "3.2 Restore a backup", "How do I restore a backup?"],
    ["an icon in front", "Badges", ":simple-star: Add a badge", "How do I add a badge?"],
    ["a note behind", "Badges", "Add a badge (optional)", "How do I add a badge?"],
    ["how to", "Leave", "How to request leave", "How do I request leave?"],
    ["when to", "Leave", "When to ask for leave", "When should I ask for leave?"],
    ["how it works, of a thing", "Leave", "How approvals work", "How do approvals work?"],
    ["an ordinary section", "Relay", "Installation", "How do I install Relay?"],
    ["limits of a thing", "Relay", "Known limitations", "What are the limitations of Relay?"],
    [
      "needs of a task",
      "Install the relay",
      "Requirements",
      "What do I need to install the relay?",
    ],
    [
      "what a program does",
      "Relay",
      "Garbage collection",
      "How does garbage collection work in Relay?",
    ],
    ["a name in code", "Relay", "`keep_alive`", "What does keep_alive do?"],
  ])("takes %s", (_what, title, heading, question) => {
    expect(questionsOf(title, heading, filler.repeat(3))).toContain(question);
  });

  it.each([
    [
      "a definition",
      "Relay",
      "Pairs",
      `Pairs are a link between folder and index. ${filler}`,
      "What are pairs?",
    ],
    [
      "its article",
      "Relay",
      "Pair",
      `A pair is a link between folder and index. ${filler}`,
      "What is a pair?",
    ],
    [
      "a list",
      "Relay",
      "Environment variables",
      `${filler}\n\n${list}`,
      "Which environment variables does Relay have?",
    ],
  ])("says what the section says: %s", (_what, title, heading, text, question) => {
    expect(questionsOf(title, heading, text)).toContain(question);
  });

  it("puts the article of the text before a thing", () => {
    const text = `${filler} Open the upload gate, and close the upload gate again.`;
    expect(questionsOf("Uploads", "Configure upload gate", text)).toContain(
      "How do I configure the upload gate?",
    );
  });

  it.each([
    "About",
    "Overview",
    "Introduction",
    "FAQ",
    "Notes",
    "See also",
    "Changelog",
    "Next steps",
    "Example",
    "What's next?",
    "Do you have questions?",
    "Why?",
    "How does it work now?",
    "What happened?",
    "Get started",

    "Use the archive instead",
    "Who can request revocation",
    "OPERATIONAL CONTROL requirements",
    "Declare the archive: a table",
    "Access to the archive",
    "Install scripts",
    "Release cycle",
    "Upcoming events",
    "Working",
  ])("asks nothing about %s", (heading) => {
    expect(questionsOf("Relay", heading, `${filler}\n\n${list}`)).toEqual([]);
  });

  it("asks nothing about a heading that stands again on the page", () => {
    const twice = `## Configure the proxy\n\n${filler}\n\n`;
    const texts = [`# Relay\n\n${filler}\n\n${twice}${twice}## Restore a backup\n\n${filler}`];
    expect(draftQuestions({ title: "Relay", texts }).map(({ text }) => text)).toEqual([
      "How do I restore a backup?",
    ]);
  });

  it("asks nothing of a section without text, and of a page about what was", () => {
    expect(questionsOf("Relay", "Configure the proxy", "Soon.")).toEqual([]);
    expect(questionsOf("Release notes", "Configure the proxy")).toEqual([]);
  });

  it("takes no product, no address and no collection for a thing", () => {
    expect(questionsOf("Relay", "macOS")).toEqual([]);
    expect(questionsOf("Relay", "relay.example.org")).toEqual([]);
    expect(questionsOf("Relay", "How to get started?")).toEqual([]);
    expect(questionsOf("Best practices", "Installation")).toEqual([]);
  });

  it.each([
    ["Upgrades", "How to fix the problem"],
    ["Reproduce a state", "Adding support"],
    ["Troubleshooting errors", "Troubleshooting errors"],
    ["Entities implement translations", "Configuration"],
    ["Pairs fail if a file is gone", "Configuration"],
    ["Models", "Discovery"],
    ["Endpoints", "Discovery"],
    ["Relay", "Parameter substitution into templates"],
  ])("asks nothing that only the page makes clear: %s > %s", (title, heading) => {
    expect(questionsOf(title, heading, `${filler.repeat(4)}\n\n${list}`)).toEqual([]);
  });

  it.each([
    ["two things that are named elsewhere", "Connections", "When to use one or the other?"],
    ["what every page has", "Rooms", "Enable the app"],
    ["a task without its thing", "Rooms", "Use with a library"],
    ["a guide to writing", "Contributing", "Writing style guide"],
    ["a sentence", "Case", "Comparing against a type will perform a check"],
    ["a list of links", "Rooms", "Community resources", list],
    ["a part of something", "Flags", "The vendor", `The vendor is the maker. ${filler}`],
    ["more of a thing", "Additional room features", "Functions", list],
    ["needs of an example", "Room booking example", "Requirements"],
  ])("asks nothing of %s", (_what, title, heading, text = filler) => {
    expect(questionsOf(title, heading, text.repeat(3))).toEqual([]);
  });

  it.each([
    ["Files", "Delete a file", "How do I delete a file?"],
    ["Rooms", "Find which room will be free", "How do I find which room will be free?"],
    ["Rooms", "Enable the app for guests", "How do I enable the app for guests?"],
    ["Rooms", "Use a library of plans", "How do I use a library of plans?"],
  ])("still asks of %s: %s", (title, heading, question) => {
    expect(questionsOf(title, heading)).toContain(question);
  });

  it("has no name of the site, and verbs are small", () => {
    expect(questionsOf("Restore a backup - Relay", "Example")).toEqual([
      "How do I restore a backup?",
    ]);
    expect(questionsOf("Relay", "How to Configure Third Party Prompts")).toEqual([
      "How do I configure Third Party Prompts?",
    ]);
  });

  it("never puts a generic title into a question", () => {
    expect(questionsOf("Overview", "Installation")).toEqual([]);
    expect(questionsOf("Installation", "Requirements")).toEqual([]);
  });

  it("has the surest questions first", () => {
    const texts = [
      `# Relay\n\n${filler}\n\n## Installation\n\n${filler}\n\n## Who may use the relay?\n\n${filler}\n`,
    ];
    expect(draftQuestions({ title: "Relay", texts }).map(({ text }) => text)).toEqual([
      "Who may use the relay?",
      "How do I install Relay?",
    ]);
  });

  it("takes no heading in code, and none that is too long", () => {
    const long = `How ${"many ".repeat(30)}days do I get?`;
    expect(questionsOf("Relay", long)).toEqual([]);
    expect(
      questionsOf("Relay", "Notes", `${filler}\n\n\`\`\`\n# Why do we test this?\n\`\`\`\n`),
    ).toEqual([]);
  });
});

describe("hostile pages", () => {
  it.each([
    ["fences without an end", "````\n".repeat(20_000)],
    ["brackets", `[${"[".repeat(100_000)}`],
    ["tags", "<a ".repeat(50_000)],
    ["headings", "## Configure the proxy server of all\n\ntext of it\n\n".repeat(5_000)],
    ["one long heading", `# ${"Configure ".repeat(20_000)}\n`],
  ])("are read in their time: %s", (_what, text) => {
    expect(draftQuestions({ title: "Relay", texts: [text] }).length).toBeLessThan(300);
  });
});

describe("pages in other languages", () => {
  const german =
    "Die Firma zahlt die Reise, und der Antrag ist im Portal. Er wird vor der Reise gestellt. Die Leitung genehmigt den Antrag.";

  it("have their own questions, else words to search for", () => {
    const texts = [
      `# Reisekosten\n\n${german}\n\n## Belege einreichen\n\n${german}\n\n## Wer genehmigt die Reise?\n\n${german}\n`,
    ];
    expect(draftQuestions({ title: "Reisekosten", texts })).toEqual([
      { text: "Wer genehmigt die Reise?", isSearch: false },
      { text: "Reisekosten: Belege einreichen", isSearch: true },
    ]);
  });

  it("are known by their letters as well", () => {
    const text =
      "旅費は会社が支払います。申請は出張の前に行ってください。領収書は三十日以内に提出してください。";
    const texts = [`# 出張\n\n${text}\n\n## 領収書の提出\n\n${text}\n`];
    expect(draftQuestions({ title: "出張", texts })).toEqual([
      { text: "出張: 領収書の提出", isSearch: true },
    ]);
  });

  it("are no lists of names", () => {
    const texts = [
      "# Team\n\nMüller, Mayer, Schmidt, Huber, Wagner\n\n## Büro\n\nMüller, Mayer, Schmidt\n",
    ];
    expect(draftQuestions({ title: "Team", texts })).toEqual([]);
  });
});

describe("the meaning of a question", () => {
  it.each([
    ["How do I configure the proxy?", "How can I set up a proxy?"],
    ["How do I delete backups?", "How do I remove a backup?"],
    ["What is a pair?", "What are pairs?"],
  ])("%s is %s", (one, other) => {
    expect(meaningOf(one)).toBe(meaningOf(other));
  });

  it("differs with the thing and the task", () => {
    const all = ["How do I add a pair?", "How do I remove a pair?", "How do I add a user?"];
    expect(new Set(all.map(meaningOf)).size).toBe(3);
  });
});
