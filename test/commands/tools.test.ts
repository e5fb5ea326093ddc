import { describe, expect, it } from "vitest";
import { startTestService } from "../service.ts";
import { run } from "./pairs.ts";

describe("tools list", () => {
  it.each(["standard", "onyx"] as const)("gives ids and names, in %s", async (dialect) => {
    const service = await startTestService({ dialect });
    const { code, out } = await run(service, ["tools", "list"]);
    expect(code).toBe(0);
    expect(out.split("\n")[0]).toBe(
      "1\tinternal_search\tInternal Search\tSearches the documents that were uploaded to this sandbox.",
    );
    const found = await run(service, ["tools", "list", "--filter", "name~*search", "--fields=id"]);
    expect(found).toEqual({ code: 0, out: "1\n", err: "" });
  });

  it("says that none match", async () => {
    const service = await startTestService();
    const result = await run(service, ["tools", "list", "--filter", "name=none"]);
    expect(result).toEqual({ code: 0, out: "", err: "no tools match\n" });
  });
});

describe("agents list", () => {
  it("gives ids, names and the names of tools, in onyx", async () => {
    const service = await startTestService({ dialect: "onyx" });
    const { code, out } = await run(service, ["agents", "list"]);
    expect(code).toBe(0);
    expect(out).toBe(
      "0\tSandbox\tAnswers with sentences quoted from the uploaded documents.\tinternal_search,list_documents\n",
    );
    const whole = await run(service, ["agents", "list", "--json"]);
    expect(JSON.parse(whole.out)).toMatchObject([{ id: 0, tools: [{ custom_headers: null }, {}] }]);
  });

  it("ends with 9 and the reason where the dialect has none, before any request", async () => {
    const service = await startTestService();
    const { code, out, err } = await run(service, ["agents", "list"]);
    expect({ code, out }).toEqual({ code: 9, out: "" });
    expect(err).toBe(
      "error: the standard dialect lists no agents\n  → see the web page of the service\n",
    );
  });
});
