import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Chromium, findChromium, startChromium } from "../../../scripts/chromium.js";
import { defaultPairs } from "../../../src/sandbox/store/seeds.ts";
import { heldClock } from "../../held-clock.ts";
import { documentOf } from "../start.ts";
import { ask, choose, click, openPage, textOf, untilListed } from "./browser.ts";
import { lowContrast, overlaps } from "./layout.ts";

const path = findChromium();
if (path === undefined) {
  process.stderr.write(
    "No Chromium is found, so the sandbox's page is not tested. Install it, or set CHROMIUM to its path.\n",
  );
}

let chromium: Chromium;
beforeAll(async () => {
  if (path !== undefined) chromium = await startChromium(path);
});
afterAll(() => chromium?.close());

const leave = {
  id: "people/leave.md",
  semantic_identifier: "Leave",
  sections: [
    { text: "Leave > Annual\n\nEverybody has 28 days of annual leave a year." },
    { text: "Leave > Sick days\n\nCall before ten." },
  ],
};
const longest = {
  id: `archive/${"x".repeat(150)}.md`,
  semantic_identifier: "W".repeat(150),
  sections: [{ text: `Leave ${"annual".repeat(60)} annual leave.` }],
};

describe.skipIf(path === undefined)("the page", () => {
  it("loads without a complaint of the browser, from the sandbox alone", async () => {
    const { page, sandbox, problems, requests } = await openPage(chromium, [leave]);
    expect(problems).toEqual([]);
    expect(requests.length).toBeGreaterThan(8);
    expect(requests.filter((url) => !url.startsWith(`${sandbox.url}/`))).toEqual([]);
    // The policy does forbid what it names.
    await expect(page.evaluate(`document.body.innerHTML = "<b>x</b>"`)).rejects.toThrow(
      /TrustedHTML/,
    );
    await expect(page.evaluate(`fetch("http://127.0.0.1:9/")`)).rejects.toThrow(/fetch/);
  });

  it("shows an answer while it arrives, and the document of its source", async () => {
    const clock = heldClock(17);
    const { page, problems } = await openPage(chromium, [leave], { clock, tokenDelayMs: 1 });
    await page.type("How much annual leave?");
    await page.press("Enter");
    await page.until(`document.querySelector(".answer")?.textContent.includes("Everybody")`);
    await clock.pausing;
    expect(await textOf(page, ".answer")).not.toContain("a year");
    expect(await textOf(page, "article .sources")).toBe("");
    clock.release();
    await page.until(`document.querySelector("article .sources") !== null`);
    expect(await textOf(page, ".answer")).toContain(
      "Everybody has 28 days of annual leave a year.",
    );
    expect(await textOf(page, "#announcement")).toMatch(/^Answer: .*28 days.* 1 source\.$/s);
    await click(page, ".answer .cite");
    await page.until(`document.querySelector("dialog mark") !== null`);
    expect(await textOf(page, "#document-title")).toBe("Leave");
    expect(await textOf(page, "dialog mark")).toContain("28 days of annual leave");
    expect(await textOf(page, "#document-facts")).toContain("people/leave.md");
    expect(await textOf(page, "#document-text")).toContain("Call before ten.");
    expect(problems).toEqual([]);
  });

  it("goes on in the same session, and starts a new one when asked to", async () => {
    const { page, sandbox } = await openPage(chromium, [leave], { dialect: "onyx" });
    await ask(page, "How much annual leave?");
    await ask(page, "And sick days?");
    await click(page, "#restart");
    await ask(page, "How much leave?");
    const sessions = sandbox.ledger.chats.map((each) => each["chat_session_id"]);
    expect(sessions).toEqual([undefined, expect.any(String), undefined]);
    expect(await page.evaluate(`document.querySelectorAll("article").length`)).toBe(1);
  });

  it("works with the keyboard alone, and shows where the focus is", async () => {
    const { page } = await openPage(chromium, [leave]);
    const focused = (): Promise<string> =>
      page.evaluate(`(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
        const isVisible = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
        const { id, textContent } = document.activeElement;
        return (isVisible ? "" : "unseen ") + (id || textContent);
      })()`);
    expect(await focused()).toBe("question");
    await page.type("How much annual leave?");
    await page.press("Enter");
    await page.until(`document.querySelector("article .sources") !== null`);
    const order = [];
    for (let step = 0; step < 9; step++) {
      await page.press("Tab");
      order.push(await focused());
    }
    const links = ["1", "Leave"];
    expect(order).toEqual([
      "send",
      "restart",
      ...links,
      "words",
      "pair",
      "Find",
      "Leave",
      "fault-latency",
    ]);
    await page.press("ArrowDown");
    await page.until(`document.querySelector("#fault-badge").innerText === "1 fault on"`);
    await page.press("ArrowUp");
    await page.until(`document.querySelector("#fault-badge").hidden`);
    await page.evaluate(`document.querySelector(".sources a").focus()`);
    await page.press("Enter");
    await page.until(`document.querySelector("dialog .text") !== null`);
    await page.press("Tab");
    expect(await focused()).toBe("close");
    await page.press("Escape");
    await page.until(`location.hash === ""`);
    expect(await focused()).toBe("Leave");
  });

  it("has a name and a role for everything that a screen reader meets", async () => {
    const { page } = await openPage(chromium, [leave]);
    await ask(page, "How much annual leave?");
    interface Node {
      ignored: boolean;
      role: { value: string };
      name?: { value: string };
    }
    const { nodes } = await page.send<{ nodes: Node[] }>("Accessibility.getFullAXTree");
    const found = nodes
      .filter(({ ignored }) => !ignored)
      .map(({ role, name }) => `${role.value} ${name?.value ?? ""}`);
    const controls =
      /^(button|link|textbox|searchbox|combobox|switch|region|article|dialog)( .*)?$/;
    expect(found.filter((each) => controls.test(each) && each.endsWith(" "))).toEqual([]);
    expect(found).toEqual(
      expect.arrayContaining([
        "textbox Ask a question",
        "button Ask",
        "region Ask a question",
        "article How much annual leave?",
        "link Source 1: Leave",
        "search ",
        "searchbox Find in the documents",
        "combobox Connector",
        "region Documents 1",
        "region Connectors",
        "region Faults",
        "combobox Too many requests",
        "status ",
      ]),
    );
  });

  it("fits into 400 to 1,600 pixels, light and dark", async () => {
    const { page } = await openPage(chromium, [leave, longest]);
    await ask(page, `How much annual leave? ${"y".repeat(100)}`);
    for (const width of [400, 800, 1000, 1600]) {
      await page.resize(width, 900);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      expect([width, await page.evaluate(overlaps)]).toEqual([width, []]);
    }
    for (const value of ["light", "dark"]) {
      const features = [{ name: "prefers-color-scheme", value }];
      await page.send("Emulation.setEmulatedMedia", { features });
      expect([value, await page.evaluate(lowContrast)]).toEqual([value, []]);
    }
    await page.resize(400, 900);
    await click(page, "#documents a");
    await page.until(`document.querySelector("dialog .text") !== null`);
    expect(await page.evaluate(`document.querySelector("dialog").scrollWidth`)).toBeLessThan(400);
  });

  it("switches faults on and off for the next request", async () => {
    const { page } = await openPage(chromium, [leave]);
    for (const [name, message] of [
      ["429", "The service answered with status 429: Injected fault 429. Retry after 1 s."],
      ["html", "A web page came in place of an answer, with status 200."],
      ["cut", "The connection was cut before the answer was complete."],
    ]) {
      await choose(page, `#fault-${name}`, "1");
      await page.until(`!document.querySelector("#fault-flag").hidden`);
      expect(await textOf(page, "#fault-text")).toBe(`--fault ${name}=1`);
      await ask(page, "How much annual leave?");
      expect(await textOf(page, "article .problem")).toContain(message);
      expect(await textOf(page, "#announcement")).toContain(message);
      await click(page, "#faults-off");
      await page.until(`document.querySelector("#fault-flag").hidden`);
      await click(page, "article .problem button");
      await page.until(`document.querySelector("article .sources") !== null`);
      await click(page, "#restart");
    }
    // An answer that never comes ends with Escape.
    await choose(page, "#fault-hang", "1");
    await page.until(`!document.querySelector("#fault-flag").hidden`);
    await page.type("How much annual leave?");
    await page.press("Enter");
    await page.until(`document.querySelector(".note")?.textContent.startsWith("Waiting")`);
    await page.press("Escape");
    await page.until(`document.querySelector("article .problem") !== null`);
    expect(await textOf(page, "article .problem")).toContain("You stopped this answer.");
  });

  it("shows hostile text as text", async () => {
    const attack = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
    const hidden = "\u202egnp.exe\u2066\u001b[31m\u0000\u0085";
    const name = `wombat ${attack}${hidden}`;
    const pairs = [{ ...defaultPairs[0]!, name }];
    const text = `# ${attack}\n\nThe wombat ${attack} digs ${hidden} holes. \`${attack}\` [x](javascript:alert(1))`;
    const sections = [{ text, link: "javascript:document.title='run'" }];
    const document = { id: name, semantic_identifier: name, sections, metadata: { [name]: name } };
    const { page, problems } = await openPage(chromium, [document], { pairs });
    await ask(page, `wombat ${attack} holes`);
    await click(page, ".sources a");
    await page.until(`document.querySelector("dialog .text") !== null`);
    const all = await page.evaluate<string>("document.body.textContent");
    expect(all).toContain(`wombat ${attack}[U+202E]gnp.exe[U+2066]␛[31m`);
    expect(await textOf(page, "#document-text")).toContain(`The wombat ${attack} digs [U+202E]gnp`);
    expect(all).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    const made = `[...document.querySelectorAll("img, body script, [onerror], a[href^=javascript]")].length`;
    expect(await page.evaluate(made)).toBe(0);
    expect(await page.evaluate("document.title")).toBe("knowctl sandbox");
    expect(problems).toEqual([]);
  });

  it("asks for a key that is not the public one", async () => {
    const { page, problems } = await openPage(chromium, [], { key: "a-key-of-ones-own" });
    await page.until(`!document.querySelector("#unlock").hidden`);
    expect(problems).toEqual([]);
    for (const wrong of ["wrong", "ключ"]) {
      await page.evaluate(`document.querySelector("#status").textContent = ""`);
      await page.type(wrong);
      await page.press("Enter");
      await page.until(`document.querySelector("#status").innerText !== ""`);
      expect(await textOf(page, "#status")).toBe("The sandbox refused this key.");
    }
    await page.type("a-key-of-ones-own");
    await page.press("Enter");
    await page.until(`document.querySelector("#documents .first") !== null`);
    expect(await textOf(page, "#documents")).toContain("knowctl ingest FOLDER --cc-pair-id 2");
    expect(await textOf(page, "#status")).toBe("");
  });

  it("shows uploads without a reload, finds words, and says when the sandbox is gone", async () => {
    const { page, sandbox } = await openPage(chromium, [leave]);
    const look = `document.dispatchEvent(new Event("visibilitychange"))`;
    await page.evaluate(`document.querySelector("#documents a").focus()`);
    await sandbox.ingest(documentOf({ id: "b.md", semantic_identifier: "Wombats" }), 7);
    await page.evaluate(look);
    await untilListed(page, 2);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Leave");
    expect(await textOf(page, "#connectors li:nth-child(6)")).toContain("1 document");
    await sandbox.idle();
    await page.evaluate(`document.querySelector("#words").focus()`);
    await page.type("annual");
    await page.press("Enter");
    await untilListed(page, 1);
    expect(await textOf(page, "#found")).toBe("1 document matches.");
    await sandbox.close();
    await page.evaluate(look);
    await page.until(`document.querySelector("#status").innerText.startsWith("No connection")`);
  });
});
