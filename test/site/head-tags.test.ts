import { expect, it } from "vitest";
import { headTagsOf, htmlOf } from "../../site/head-tags.js";

const page = { title: "Limits", description: 'What "limits" are.', route: "docs/limits" };
const address = { base: "/limits/", repository: undefined, origin: "https://ada.github.io" };

it("names the page, its picture and its address for those who post a link to it", () => {
  const tags = htmlOf(headTagsOf(page, address));
  expect(tags).toContain(`<meta property="og:title" content="Limits" />`);
  expect(tags).toContain(
    `<meta property="og:description" content="What &quot;limits&quot; are." />`,
  );
  expect(tags).toContain(`property="og:url" content="https://ada.github.io/limits/docs/limits"`);
  expect(tags).toContain(`content="https://ada.github.io/limits/picture.png"`);
  expect(tags).toContain(
    `<link rel="canonical" href="https://ada.github.io/limits/docs/limits" />`,
  );
});

it("has a picture of the question for the first page alone", () => {
  const pictureOf = (route: string) =>
    /og:image" content="([^"]+)"[\s\S]*og:image:alt" content="([^"]+)"/
      .exec(htmlOf(headTagsOf({ ...page, route }, address)))!
      .slice(1);
  expect(pictureOf("")).toEqual([
    "https://ada.github.io/limits/count.png",
    expect.stringMatching(/^Can your rate limiter count to ten\?/),
  ]);
  expect(pictureOf("playground/")[0]).toMatch(/picture\.png$/);
});

it("says no whole address while the host is not known", () => {
  const tags = htmlOf(headTagsOf(page, { ...address, origin: undefined }));
  expect(tags).toContain(`property="og:image" content="/limits/picture.png"`);
  expect(tags).not.toMatch(/canonical|og:url|undefined/);
});

it("escapes what would end an attribute or begin an element", () => {
  expect(htmlOf([["meta", { name: "a", content: `"<b>&` }]])).toBe(
    `<meta name="a" content="&quot;&lt;b>&amp;" />`,
  );
});
