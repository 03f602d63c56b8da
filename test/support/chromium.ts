/** The system's Chromium, for the tests that need a browser. */
import { existsSync } from "node:fs";
import { type Browser, type BrowserServer, chromium } from "playwright-core";
import { freePort } from "./free-port.js";

/** With windows, whose toolbars take seven times as much of a processor as a small page. */
const CHROMIUM = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
/** Without windows. The tests run without it, too, but take longer. */
const SHELL = "/usr/bin/chromium-headless-shell";
const WITHOUT_WINDOWS =
  process.env["CHROMIUM_PATH"] === undefined && existsSync(SHELL) ? SHELL : CHROMIUM;

/** @throws Error if there is no Chromium. */
export async function launchChromium(): Promise<Browser> {
  return chromium.launch(optionsOf(WITHOUT_WINDOWS));
}

/** A browser for other processes. @throws Error if there is no Chromium. */
export async function serveChromium(): Promise<BrowserServer> {
  return chromium.launchServer(optionsOf(WITHOUT_WINDOWS));
}

function optionsOf(executablePath: string, args: readonly string[] = []) {
  if (!existsSync(executablePath)) {
    throw new Error(`No Chromium at ${executablePath}: install it, or name one with CHROMIUM_PATH`);
  }
  return {
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...args,
    ],
  };
}

/**
 * A browser as people use it: one window with tabs, of which only the front tab is visible. In other
 * browsers of Playwright, all pages believe that they are visible, and such pages cannot be frozen.
 */
export async function launchWindow() {
  const port = await freePort();
  const launched = await chromium.launch(optionsOf(CHROMIUM, [`--remote-debugging-port=${port}`]));
  const connected = await chromium.connectOverCDP(`http://127.0.0.1:${port}`, { noDefaults: true });
  return {
    context: connected.contexts()[0]!,
    async [Symbol.asyncDispose]() {
      await connected.close();
      await launched.close();
    },
  };
}
