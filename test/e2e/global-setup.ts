/**
 * A demo and browsers that the tests share. Each test has visitors of its own in the demo, and each
 * worker has a browser. Workers do not share a browser, because all pages of a browser have one
 * clipboard.
 */
import type { BrowserServer } from "playwright-core";
import type { TestProject } from "vitest/node";
import { serveChromium } from "../support/chromium.js";
import { type Demo, startDemo } from "../support/demo.js";

export type SharedDemo = Pick<Demo, "url" | "databaseUrl">;

declare module "vitest" {
  interface ProvidedContext {
    /** No test may stop this demo. */
    demo: SharedDemo;
    /** The addresses by which each worker connects to its browser. */
    browsers: string[];
  }
}

export default async function setup(project: TestProject) {
  const browsers: BrowserServer[] = [];
  while (browsers.length < project.config.maxWorkers) browsers.push(await serveChromium());
  const demo = await startDemo();
  project.provide("demo", { url: demo.url, databaseUrl: demo.databaseUrl });
  project.provide(
    "browsers",
    browsers.map((browser) => browser.wsEndpoint()),
  );
  return async () => {
    await Promise.all(browsers.map((browser) => browser.close()));
    await demo[Symbol.asyncDispose]();
  };
}
