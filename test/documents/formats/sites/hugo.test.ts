import { beforeAll, describe, expect, it } from "vitest";
import { compileSettings } from "../../../../src/documents/map/settings.ts";
import { readDocument, readDocumentSync } from "../../../../src/documents/inspect/read.ts";
import { loadPage } from "../../../../src/documents/page/at-hand.ts";
import { siteOf, siteText } from "../../../../src/documents/site/sites.ts";
import { expectLinear } from "../../../cost.ts";
import { createFolder, fileIn } from "../../folder.ts";

beforeAll(loadPage);

const config = `baseURL = "https://x.example"
defaultContentLanguage = "en"
theme = "plain"
[params]
Version = "2.1"
deep.a = "b"
[languages.en]
contentDir = "content/en"
[languages.de]
contentDir = "content/de"
[languages.de.params]
version = "2.1-de"
`;

interface Options {
  files?: Record<string, string>;
  path?: string;
  front?: string;
  config?: string;
}

function read(body: string, options: Options = {}) {
  const { files = {}, path = "content/en/docs/a.md", front = "title: Page" } = options;
  const root = createFolder({
    "hugo.toml": options.config ?? config,
    ...files,
    [path]: `---\n${front}\n---\n${body}`,
  });
  const settings = compileSettings({ root, linkBase: "https://h.example", linkStyle: "hugo" });
  const reading = readDocumentSync(fileIn(root, path), settings);
  if (reading?.kind !== "document") throw new Error(JSON.stringify(reading));
  const { document, notices = [] } = reading;
  return {
    text: document.sections[0]?.text ?? "",
    link: document.sections[0]?.link,
    notices: notices
      .filter(({ kind }) => kind === "leftOut")
      .map(({ name, times }) => `${name} ${times}`),
  };
}

describe("the site of Hugo", () => {
  const siteAt = (files: Record<string, string>, path: string): string | undefined => {
    const settings = compileSettings({ root: createFolder(files) });
    const site = siteOf(path, settings);
    return site && siteText(site);
  };
  it.each([
    [{ "d/config.yaml": "", "d/content/a.md": "" }, "Hugo (d/config.yaml)"],
    [
      { "d/config/_default/config.toml": "", "d/content/a.md": "" },
      "Hugo (d/config/_default/config.toml)",
    ],
    [
      { "d/config.toml": "", "d/content.de/a.md": "", "d/templates/x": "", "d/layouts/x": "" },
      "Hugo (d/config.toml)",
    ],
    // Zola.
    [{ "d/config.toml": "", "d/content/a.md": "", "d/templates/x": "" }, undefined],
    [{ "d/config.toml": "", "d/docs/a.md": "" }, undefined],
    [{ "d/config/x.toml": "", "d/content/a.md": "" }, undefined],
  ])("of %j is %s", (files, expected) => {
    expect(siteAt(files as Record<string, string>, "d/content/a.md")).toBe(expected);
  });

  it("has tables of its configuration in files of their own", () => {
    const files = {
      "config/_default/hugo.toml": 'title = "T"\n[params]\nx = "1"',
      "config/_default/params.yaml": "version: 3",
      "config/_default/languages.toml":
        '[en]\ncontentDir = "content/en"\n[de]\ncontentDir = "content/de"',
      "content/en/docs/a.md": '{{< param version >}} {{< param "x" >}}',
    };
    const root = createFolder(files);
    const settings = compileSettings({ root, linkBase: "https://h.example", linkStyle: "hugo" });
    const reading = readDocumentSync(fileIn(root, "content/en/docs/a.md"), settings);
    expect(reading?.kind === "document" && reading.document.sections[0]).toEqual({
      text: "3 1",
      link: "https://h.example/docs/a/",
    });
  });
});

describe("addresses of Hugo", () => {
  it.each([
    ["content/en/docs/a.md", "title: x", "docs/a/"],
    ["content/de/docs/A b.md", "title: x", "de/docs/a-b/"],
    ["content/de/_index.md", "title: x", "de/"],
    ["content/en/docs/a.de.md", "title: x", "de/docs/a/"],
    ["content/en/docs/a.fr.md", "title: x", "docs/a.fr/"],
    ["content/de/docs/a.md", "slug: s", "de/docs/s/"],
    ["content/de/docs/a.md", "url: /u/v/", "u/v/"],
  ])("of %s with %s is %s", (path, front, expected) => {
    expect(read("x", { path, front }).link).toBe(`https://h.example/${expected}`);
  });

  it("are as the configuration says", () => {
    const linkWith = (more: string): string | undefined =>
      read("x", { config: more, path: "content/Docs/A.md" }).link;
    expect(linkWith("")).toBe("https://h.example/docs/a/");
    expect(linkWith("disablePathToLower = true")).toBe("https://h.example/Docs/A/");
    expect(linkWith("uglyURLs = true")).toBe("https://h.example/docs/a.html");
    expect(linkWith("defaultContentLanguageInSubdir = true")).toBe("https://h.example/en/docs/a/");
    const inside = '[languages.en]\n[languages.de]\ncontentDir = "content/de"';
    expect(read("x", { config: inside, path: "content/de/a.md" }).link).toBe(
      "https://h.example/de/a/",
    );
    const mounts =
      '[[module.mounts]]\nsource = "content"\ntarget = "content"\nlang = "de"\n[languages.de]\n';
    expect(linkWith(`defaultContentLanguage = "de"\n${mounts}`)).toBe("https://h.example/docs/a/");
  });

  it.each([
    ["posts: /:year/:month/:slug/", "content/posts/a.md", "2024/05/own/"],
    ["posts: /:sections/:title/", "content/posts/deep/a.md", "posts/deep/my-page/"],
    ["page: {posts: '/x/:filename'}", "content/posts/b/index.md", "x/b/"],
    ["posts: /:unknown/", "content/posts/a.md", "posts/own/"],
    ["posts: /:year/", "content/posts/_index.md", "posts/"],
    ["posts: /:year/", "content/docs/a.md", "docs/own/"],
  ])("follow the permalinks %s", (permalinks, path, expected) => {
    const root = createFolder({
      "hugo.yaml": `permalinks:\n  ${permalinks}`,
      [path]: "---\ntitle: My page\ndate: 2024-05-06\nslug: own\n---\nx",
    });
    const settings = compileSettings({ root, linkBase: "https://h.example", linkStyle: "hugo" });
    const reading = readDocumentSync(fileIn(root, path), settings);
    expect(reading?.kind === "document" && reading.document.sections[0]?.link).toBe(
      `https://h.example/${expected}`,
    );
  });

  it("lead links to pages of the same language", () => {
    const pages = Object.fromEntries(
      [
        "content/en/docs/b.md",
        "content/de/docs/b.md",
        "content/en/docs/c.md",
        "content/en/docs/c.de.md",
      ].map((path) => [path, "x"]),
    );
    const files = { ...pages, "content/de/docs/s.md": "---\nslug: other\naliases: [/old]\n---\nx" };
    const links =
      '[1](../b/) [2]({{< ref "/docs/b" >}}) [3]({{< relref "b.md" >}}) [4](/docs/b/) [5](../other/) [6](/old) [7]({{< ref "s" >}})';
    expect(read(links, { files, path: "content/de/docs/a.md" }).text).toBe(
      [
        "[1](https://h.example/de/docs/b/) [2](https://h.example/de/docs/b/) [3](https://h.example/de/docs/b/)",
        "[4](https://h.example/docs/b/) [5](https://h.example/de/docs/other/) [6](https://h.example/de/docs/other/)",
        "[7](https://h.example/de/docs/other/)",
      ].join(" "),
    );
    expect(read("[1](../c/) [2](c.md)", { files, path: "content/en/docs/a.de.md" }).text).toBe(
      "[1](https://h.example/de/docs/c/) [2](https://h.example/de/docs/c/)",
    );
  });
});

describe("shortcodes of Hugo", () => {
  const files = {
    "layouts/shortcodes/version.html": "{{- /* v */ -}}v{{ site.Params.Version }}",
    "layouts/shortcodes/note.html":
      '{{ $title := .Get "title" | default "Note" }}<div class="n"><strong>{{ $title }}</strong>\n<p>{{ .Inner | markdownify }}</p></div>',
    "layouts/shortcodes/link.html":
      '<a href="{{ .Get 0 }}">{{ with .Get 1 }}{{ . }}{{ else }}here{{ end }}</a>',
    "layouts/shortcodes/if.html":
      '{{ if eq (.Get 0) "a" }}A{{ else if ne (.Get 0) "b" }}C{{ else }}B{{ end }}',
    "layouts/shortcodes/hide.html": "{{ if false }}{{ .Inner }}{{ end }}gone",
    "layouts/shortcodes/bold.html": "<b>{{ .Inner }}</b>",
    "layouts/shortcodes/item.html": "<ul><li>{{ .Inner }}</li></ul>",
    "layouts/shortcodes/range.html": "{{ range .Site.RegularPages }}x{{ end }}",
    "layouts/shortcodes/fmt.html": '{{ printf "%s-%s" (.Get "a") (.Get "b" | upper) }}',
    "layouts/_shortcodes/new.html": "{{ .Page.Title }}: {{ .Page.Params.own }}",
    "themes/plain/layouts/shortcodes/theme.html": "from the theme",
    "layouts/shortcodes/parts/rules.md": "1. **{{ .Get 0 }}**\n2. two",
  };
  it.each([
    ["{{% parts/rules one %}}", "1. **one**\n2. two"],
    ["{{< param version >}} {{< param deep.a >}}", "2.1 b"],
    ['{{% param "own" %}}', "o"],
    ["```\nget {{< param version >}}\n```", "```\nget 2.1\n```"],
    ["```\n{{</* param version */>}}\n```", "```\n{{< param version >}}\n```"],
    ["a {{< version >}} b", "a v2.1 b"],
    ['{{< link "https://y.example/" >}}', "[here](https://y.example/)"],
    ['{{< link "https://y.example/" "there" >}}', "[there](https://y.example/)"],
    ["{{< if a >}}{{< if b >}}{{< if c >}}", "ABC"],
    ["{{< hide >}}secret{{< /hide >}}", "gone"],
    ["{{< bold >}}loud{{< /bold >}}", "**loud**"],
    ["{{< item >}}one{{< /item >}}", "one"],
    ["{{< hide >}}a{{< hide >}}b{{< /hide >}}c{{< /hide >}}d", "goned"],
    ['{{< fmt a="x" b="y" >}}', "x-Y"],
    ["{{< new >}}", "Page: o"],
    ["{{< theme >}}", "from the theme"],
  ])("%s is %s", (body, expected) => {
    expect(read(body, { files, front: "title: Page\nown: o" }).text).toBe(expected);
  });

  it("keep the Markdown between their tags", () => {
    const { text } = read('{{< note title="T" >}}\n- a `b`\n{{< /note >}}\nz', { files });
    expect(text.replace(/\n\s*\n/g, "\n").trim()).toBe("**T**\n- a `b`\nz");
    const nested = "{{< note >}}a {{< note >}}b{{< /note >}} c{{< /note >}}";
    expect(read(nested, { files }).text.match(/\w+/g)).toEqual(["Note", "a", "Note", "b", "c"]);
  });

  it("are counted where their template does more", () => {
    expect(read("a {{< range x >}} b {{< unknown >}}", { files }).notices).toEqual(["shortcode 2"]);
  });

  const rich = {
    "layouts/shortcodes/list.html":
      "{{ range $at, $each := .Params }}{{ if $at }}, {{ end }}{{ $each }}{{ else }}none{{ end }}",
    "layouts/shortcodes/skip.html":
      "{{ range seq 5 }}{{ if eq . 2 }}{{ continue }}{{ end }}{{ if gt . 3 }}{{ break }}{{ end }}{{ . }}{{ end }}!",
    "layouts/shortcodes/scope.html":
      "{{ $a := 1 }}{{ if true }}{{ $a := 2 }}{{ $a = 3 }}{{ end }}{{ if true }}{{ $a = add $a 4 }}{{ end }}{{ $a }}",
    "layouts/shortcodes/props.html":
      '{{ with index hugo.Data.props (split (.Get 0) ".") }}<dl>{{ range sort .all "name" "desc" }}<dt>{{ .name }} ({{ i18n "kind" | upper }})</dt><dd>{{ .text | $.Page.RenderString }}</dd>{{ end }}</dl>{{ end }}',
    "data/props/deep/one.yaml": "all: [{name: a, text: '*x* `y`'}, {name: b, text: z}]",
    "i18n/en.yaml": "kind: {other: required}",
    "layouts/shortcodes/columns.html":
      '<div>{{ range split .Inner "<--->" }}<div>{{ . | $.Page.RenderString }}</div>{{ end }}</div>',
    "layouts/shortcodes/tabs.html":
      '{{ with .Inner }}{{ end }}{{ range $i, $tab := .Scratch.Get "t" }}<label for="{{ $i }}">{{ $tab.Name }}</label><div>{{ .Content | markdownify }}</div>{{ end }}',
    "layouts/shortcodes/tab.html":
      '{{ if .Parent }}{{ if not (.Parent.Scratch.Get "t") }}{{ .Parent.Scratch.Set "t" slice }}{{ end }}{{ .Parent.Scratch.Add "t" (dict "Name" (.Get 0) "Content" .Inner) }}{{ end }}',
    "layouts/shortcodes/noted.html": '{{ $_ := .Parent.Scratch.Add "t" (slice .Inner) }}',
    "layouts/shortcodes/panes.html":
      '<!-- All -->{{ $id := printf "p%d" .Ordinal }}{{ .Scratch.Set "first" true }}<ul>{{ range .Params }}<li><a{{ if $.Scratch.Get "first" }} id="{{ $id }}"{{ end }}>{{ . }}</a></li>{{ end }}</ul><div class="panes">{{ .Inner }}</div><p>End</p>',
    "layouts/shortcodes/pane.html":
      '<div class="pane">\n<br />\n<b>{{ .Parent.Get .Ordinal }}:</b>\n{{- .Inner -}}\n</div>',
    "layouts/shortcodes/attr.html":
      '<p class="{{ .Site.Home.X }}" id="i">seen</p><script src="{{ .Site.Home.X }}">{{ now }}</script>',
    "layouts/shortcodes/either.html":
      '{{ if .Site.Home.X }}<link href="a">{{ else }}<b></b>{{ end }}seen',
    "layouts/shortcodes/differs.html": "{{ if .Site.Home.X }}one{{ else }}two{{ end }}",
    "layouts/shortcodes/part.html":
      '{{ partial "greet.html" (dict "to" (.Get 0)) }}{{ template "in" "x" }}{{ define "in" }}-{{ . }}{{ end }}',
    "themes/plain/layouts/partials/greet.html": "Hello {{ .to }}{{ $.to | len }}",
    "layouts/shortcodes/value.html": '{{ partial "double" 4 }}',
    "layouts/partials/double.html": "text {{ return mul . 2 }} more",
    "layouts/shortcodes/again.html": '{{ partial "again" . }}',
    "layouts/partials/again.html": 'x{{ partial "again" . }}',
    "layouts/shortcodes/img.html":
      '{{ with .Page.Resources.GetMatch (.Get "name") }}<img src="{{ (.Resize "9x").RelPermalink }}" alt="{{ .Title }}"><p>{{ .Params.by }}</p>{{ end }}',
    "data/list.toml": "[[all]]\nname = 'a'\nis = true\n[[all]]\nname = 'b'\n",
    "layouts/shortcodes/where.html":
      '{{ range where site.Data.list.all "is" true }}{{ .name }}{{ end }}{{ range where site.Data.list.all "name" "!=" "a" }}{{ .name }}{{ end }}',
    "layouts/shortcodes/sample.html": '{{ highlight (readFile "content/s.py") "python" }}',
    "content/s.py": "x = 1",
  };
  it.each([
    ["{{< list a b >}} {{< list >}}", "a, b none"],
    ["{{< skip >}}", "13!"],
    ["{{< scope >}}", "5"],
    ["{{< attr >}}", "seen"],
    ["{{< either >}}", "seen"],
    ["{{< part you >}}", "Hello you3-x"],
    ["{{< value >}}", "8"],
    ['{{< img name="one" >}}', "![One](1.png)\n\nMe"],
    ["{{< where >}}", "ab"],
    ["{{< sample >}}", "```python\nx = 1\n```"],
    ['{{< props "deep.one" >}}', "- b (REQUIRED): z\n- a (REQUIRED): *x* `y`"],
    ["{{< columns >}}\n## A\na\n<--->\n## B\nb\n{{< /columns >}}", "## A\na\n\n## B\nb"],
    [
      "{{< tabs >}}{{< tab One >}}\n- 1 /tabs\n{{< /tab >}}{{< tab Two >}}2 {{< list x y >}}{{< /tab >}}{{< /tabs >}}",
      "One\n\n- 1 /tabs\n\nTwo\n\n2 x, y",
    ],
    [
      "{{< panes One Two >}}{{% pane %}}\n\n**a** `b<c>`\n\n```js\nx < `${y}` > z\n```\n{{% /pane %}}\n{{% pane %}}d{{% /pane %}}{{< /panes >}}",
      "- One\n- Two\n\n<b>One:</b>\n\n**a** `b<c>`\n\n```js\nx < `${y}` > z\n```\n\n<b>Two:</b>d\n\nEnd",
    ],
  ])("do what their template says: %s", (body, expected) => {
    const front = "title: Page\nresources: [{name: one, src: 1.png, title: One, params: {by: Me}}]";
    const { text, notices } = read(body, { files: rich, front });
    expect(text.trim().replace(/\n\n\n+/g, "\n\n")).toBe(expected);
    expect(notices).toEqual([]);
  });

  it.each([
    ["{{< differs >}}", ""],
    ["{{< again >}}", ""],
    ['{{< img name="other" >}}', ""],
    ["{{< tab One >}}a{{< /tab >}}", "a"],
    ["{{< noted >}}a{{< /noted >}}", "a"],
  ])("are counted, and keep their content, where only Hugo knows: %s", (body, expected) => {
    const { text, notices } = read(`z ${body}`, { files: rich });
    expect(text).toContain(expected);
    expect(notices).toEqual(["shortcode 1"]);
  });

  it("are read in pages of HTML", async () => {
    const root = createFolder({
      "hugo.toml": config,
      "content/en/a.html": "---\ntitle: T\n---\n<p>v {{< param version >}}</p>",
    });
    const settings = compileSettings({ root, linkBase: "https://h.example", linkStyle: "hugo" });
    const reading = await readDocument(fileIn(root, "content/en/a.html"), settings);
    expect(reading.kind === "document" && reading.document).toMatchObject({
      title: "T",
      sections: [{ text: "v 2.1\n", link: "https://h.example/a/" }],
    });
  });

  it("show no color of an alert", () => {
    expect(read('{{% alert title="T" color="info" %}}\na\n{{% /alert %}}').text.trim()).toBe(
      "**T**\n\na",
    );
  });

  it("take the parameters of the language first", () => {
    const path = "content/de/docs/a.md";
    expect(read("{{< param version >}}", { path }).text).toBe("2.1-de");
    expect(read("{{< param version >}}", { path, front: "version: own" }).text).toBe("own");
  });

  it("take the parameters of the sections above", () => {
    const files = {
      "content/en/_index.md": "---\ncascade:\n  v: top\n  w: top\n---\n",
      "content/en/docs/_index.md":
        "---\ncascade:\n  - {v: section}\n  - {target: {path: /x}, u: never}\n---\n",
      "layouts/shortcodes/p.html": "{{ .Page.Params.w }}",
    };
    const body = "{{< param v >}} {{< p >}} {{< param u >}}";
    expect(read(body, { files }).text.trim()).toBe("section top");
    expect(read(body, { files, front: "v: own" }).text.trim()).toBe("own top");
  });

  it.each([
    ["a template that never ends", "{{ if ".repeat(5000)],
    ["a deep one", `{{ if (${"(".repeat(5000)}1 }}`],
    ["many conditions", "{{ if .Get 0 }}".repeat(3000)],
    ["a text", "\0\uFFFF{{ . }}"],
    ["loops in loops", "{{ range seq 9999 }}{{ range seq 9999 }}xxxxxxxxxx{{ end }}{{ end }}"],
    [
      "a template that calls itself",
      '{{ define "x" }}{{ template "x" . }}{{ template "x" . }}{{ end }}{{ template "x" . }}',
    ],
    [
      "a text that doubles",
      '{{ $x := "x" }}{{ range seq 99 }}{{ $x = print $x $x }}{{ end }}{{ $x }}',
    ],
    [
      "a list that doubles",
      "{{ $x := slice 1 }}{{ range seq 99 }}{{ $x = append $x $x $x }}{{ end }}",
    ],
  ])("are not stopped by %s", (_, template) => {
    const hostile = { "layouts/shortcodes/bad.html": template };
    expect(read("a {{< bad >}} b", { files: hostile }).text).toMatch(/^a .*b$/s);
  });

  it("cost the length of their template, also of one that never ends", () => {
    expectLinear(8000, (size) => {
      const endless = { "layouts/shortcodes/bad.html": "{{ if ".repeat(size) };
      read("a {{< bad >}} b", { files: endless });
    });
  });

  it("cost the length of the text", () => {
    for (const line of ["{{< note >}}", "{{< version >}} ", "{{< "]) {
      expectLinear(8000, (size) => read(line.repeat(size / line.length) + "z", { files }));
    }
  });
});
