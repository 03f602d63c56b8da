import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { imageSizeOf } from "../../site/image-size.js";
import { ROOT } from "../../site/pages.js";

const read = (name: string) => readFileSync(join(ROOT, name));
const webp = (chunk: string, bytes: readonly number[]) =>
  Buffer.concat([Buffer.from(`RIFF....WEBP${chunk}....`, "latin1"), Buffer.from(bytes)]);

it("is read from pictures of each kind", () => {
  const sizeOf = (name: string) => imageSizeOf(name, read(name));
  expect(sizeOf("docs/pictures/call.svg")).toEqual({ width: 800, height: 236 });
  expect(sizeOf("docs/demo.webp")).toEqual({ width: 1280, height: 864 });
  expect(sizeOf("site/app/public/picture.png")).toEqual({ width: 1200, height: 630 });
});

it("is read from each kind of WebP", () => {
  const size = { width: 300, height: 200 };
  const extended = webp("VP8X", [0, 0, 0, 0, 43, 1, 0, 199, 0, 0]);
  const lossy = webp("VP8 ", [0, 0, 0, 157, 1, 42, 44, 1, 200, 0]);
  const lossless = webp("VP8L", [47, 43, 193, 49, 0]);
  for (const file of [extended, lossy, lossless]) expect(imageSizeOf("x.webp", file)).toEqual(size);
});

it("is missed where a file has none", () => {
  expect(() => imageSizeOf("x.svg", Buffer.from("<svg></svg>"))).toThrow(/^x\.svg has no size/);
  expect(() => imageSizeOf("x.gif", Buffer.from("GIF89a"))).toThrow(/^x\.gif has no size/);
});

it.each(["demo", "demo-dark"])("%s is small, and its still picture has its size", (name) => {
  const [film, still] = [`docs/${name}.webp`, `docs/${name}-still.webp`];
  expect(statSync(join(ROOT, film)).size).toBeLessThan(600_000);
  expect(statSync(join(ROOT, still)).size).toBeLessThan(60_000);
  expect(imageSizeOf(still, read(still))).toEqual(imageSizeOf(film, read(film)));
});

const PICTURES = readdirSync(join(ROOT, "docs/pictures"));

it.each(PICTURES)(
  "%s is small, has a title and its colours of the dark, and runs nothing",
  (name) => {
    const text = read(`docs/pictures/${name}`).toString("utf8");
    expect(statSync(join(ROOT, "docs/pictures", name)).size).toBeLessThan(10_000);
    expect(text).toMatch(/<title id="title">.{20,}<\/title>/);
    expect(text).toContain("@media (prefers-color-scheme: dark)");
    expect(text).not.toMatch(/<script|<image|<foreignObject|\son\w+=|href="(?!#)/);
    const { width, height } = imageSizeOf(name, Buffer.from(text));
    expect(text).toContain(`width="${width}" height="${height}" viewBox`);
    // A phone gets a narrow one.
    expect(width).toBe(name.endsWith("-narrow.svg") ? 360 : 800);
  },
);

it("draws the same chart for phones, as wide as other pictures for them", () => {
  const chartsOf = (name: string) => {
    const charts = read(name)
      .toString("utf8")
      .matchAll(/^<g [^>]*>(.*)<\/g>$/gm);
    return [...charts].map(([, chart]) => chart);
  };
  const narrow = "docs/performance-narrow.svg";
  expect(chartsOf(narrow)).toHaveLength(1);
  expect(chartsOf(narrow)).toEqual(chartsOf("docs/performance.svg"));
  expect(imageSizeOf(narrow, read(narrow)).width).toBe(360);
});
