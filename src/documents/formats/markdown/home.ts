import { isMap, textOf, type Value, type ValueMap } from "../../front-matter/values.ts";
import type { Parsed } from "../format.ts";
import type { GeneratorName } from "../../site/generators.ts";
import { destination } from "./blocks.ts";

const mapOf = (value: Value | undefined): ValueMap | undefined =>
  value !== undefined && isMap(value) ? value : undefined;
const mapsIn = (value: Value | undefined): ValueMap[] =>
  (Array.isArray(value) ? value : []).map(mapOf).filter((each) => each !== undefined);

/** The first text under one of some keys, without the tags of HTML. */
function first(map: ValueMap | undefined, ...keys: string[]): string | undefined {
  for (const key of keys) {
    const text = textOf(map?.[key])
      ?.replace(/<[^<>]*>/g, " ")
      .replace(/\s+/g, " ")
      .trim();
    if (text) return text;
  }
  return undefined;
}

function linkOf(map: ValueMap): string | undefined {
  const text = first(map, "text", "linkText");
  const target = first(map, "link");
  return text === undefined || target === undefined ? text : `[${text}](${destination(target)})`;
}

const bold = (text: string | undefined): string | undefined => text && `**${text}**`;

/** What a home page shows of its front matter: its title, and its text as Markdown. */
interface Home {
  title: string | undefined;
  text: string;
}

function homeOf(
  title: readonly (string | undefined)[],
  rest: readonly (string | undefined)[],
): Home {
  const texts = [bold(title.filter((each) => each !== undefined).join(" ")), ...rest];
  return {
    title: title.find((each) => each !== undefined),
    text: texts.filter(Boolean).join("\n\n"),
  };
}

/**
 * The home page of a site, whose text is in its front matter: vitepress.dev, "Default Theme, Home Page";
 * v1.vuepress.vuejs.org, "Homepage"; starlight.astro.build, "Frontmatter Reference, hero". Undefined
 * for other pages.
 */
function homePage(data: ValueMap | undefined, generator: GeneratorName): Home | undefined {
  const hero = mapOf(data?.["hero"]);
  if (generator === "starlight" && hero) {
    const title = first(hero, "title") ?? first(data, "title");
    return homeOf([title], [first(hero, "tagline"), ...mapsIn(hero["actions"]).map(linkOf)]);
  }
  const isHome = first(data, "layout") === "home" || first(data, "home") === "true";
  if (generator !== "vitepress" || !data || !isHome) return undefined;
  const features = mapsIn(data["features"]).flatMap((each) => [
    bold(first(each, "title")),
    first(each, "details"),
    linkOf({ ...each, text: each["linkText"] ?? null }),
  ]);
  const action = linkOf({ text: data["actionText"] ?? null, link: data["actionLink"] ?? null });
  const actions = [...mapsIn(hero?.["actions"]), ...mapsIn(data["actions"])].map(linkOf);
  return homeOf(
    [first(hero, "name") ?? first(data, "heroText"), first(hero, "text")],
    [
      first(hero, "tagline") ?? first(data, "tagline"),
      action,
      ...actions,
      ...features,
      first(data, "footer"),
    ],
  );
}

// They are text of the page, and no metadata.
const shownKeys: ReadonlySet<string> = new Set(
  "hero features heroText tagline actions actionText actionLink footer heroImage".split(" "),
);

/** A page with the text of its front matter, if it is the home page of its site. */
export function withHome(page: Parsed, generator: GeneratorName | undefined): Parsed {
  const home = generator && homePage(page.frontMatter?.data, generator);
  if (!home || home.text === "") return page;
  const { frontMatter } = page;
  const rest = Object.entries(frontMatter?.data ?? {}).filter(([key]) => !shownKeys.has(key));
  const data = Object.assign(Object.create(null) as ValueMap, Object.fromEntries(rest));
  const lines = home.text.split("\n").length + 1;
  return {
    ...page,
    ...(frontMatter ? { frontMatter: { ...frontMatter, data } } : {}),
    ...(home.title === undefined ? {} : { title: home.title }),
    body: `${home.text}\n\n${page.body}`,
    // The text below keeps its lines.
    bodyLine: Math.max(1, page.bodyLine - lines),
  };
}
