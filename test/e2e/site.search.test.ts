/** Words that people type into the search of the site, and the section that answers each of them. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openSite } from "../support/site.js";

let site: Awaited<ReturnType<typeof openSite>>;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

/** How many results a reader looks at. */
const SEEN = 3;

it.each([
  ["nextjs", "docs/next#nextjs-and-t3"],
  ["Next.js", "docs/next#nextjs-and-t3"],
  ["supabase", "docs/guides/supabase#supabase-neon-and-vercel"],
  ["vercel", "docs/guides/supabase#supabase-neon-and-vercel"],
  ["neon", "docs/guides/supabase#supabase-neon-and-vercel"],
  ["idempotency", "docs/guides/retries-and-webhooks#retries-and-webhooks"],
  ["cron", "docs/guides/serverless#a-cron-job"],
  ["expo", "docs/react#react-native-and-expo"],
  ["orpc", "docs/http#orpc-elysia-and-nestjs"],
  ["elysia", "docs/http#orpc-elysia-and-nestjs"],
  ["nestjs", "docs/http#orpc-elysia-and-nestjs"],
  ["kubernetes", "docs/guides/several-servers#kubernetes"],
  ["better-auth", "docs/better-auth#better-auth"],
])("a search for %j finds %s among the first results", async (word, section) => {
  await using page = await site.open("docs/");
  await page.getByRole("button", { name: /^Search/ }).click();
  await page.getByRole("searchbox").fill(word);
  const found = page.getByRole("option").getByRole("link");
  await found.first().waitFor();
  const addresses = await found.evaluateAll((links) =>
    links.map((link) => (link as HTMLAnchorElement).href),
  );
  expect(addresses.slice(0, SEEN)).toContain(new URL(section, site.url).href);
  expect(page.problems).toEqual([]);
});
