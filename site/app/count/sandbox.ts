/**
 * The place where a visitor's code runs: workers below a hidden frame. The frame may run scripts, and has an
 * origin that is no other's, so that it has no storage, no cookies, and no way to the page's document. Its
 * policy gives it no network. The page ends all of it by removing the frame.
 */
import { PROCESSES } from "./engine/run.js";
// oxlint-disable-next-line import/default -- Vite makes an address of it
import workerUrl from "./engine/worker.ts?worker&url";

export interface Sandbox {
  /** A port to each process. */
  ports: MessagePort[];
  remove(): void;
}

/**
 * Starts a worker of the given text for each port. The workers inherit the frame's policy. In Chromium, a
 * frame without an origin can start no module from a blob. So the text is a classic script, in a function
 * of its own, since the names of a classic script would be in the reach of the code.
 */
const START = `addEventListener("message", ({ data, ports }) => {
  const url = URL.createObjectURL(new Blob(['(() => { "use strict";', data, "})()"], { type: "text/javascript" }));
  for (const port of ports) new Worker(url).postMessage(0, [port]);
}, { once: true });`;

let text: Promise<string> | undefined;

/** The frame may load nothing, so the page loads the text of the workers for it, once. */
function workerText(): Promise<string> {
  text ??= fetch(workerUrl).then(async (answer) => {
    if (!answer.ok) throw new Error(`the code of the processes was not found: ${answer.status}`);
    return answer.text();
  });
  // Try again at the next run.
  text.catch(() => (text = undefined));
  return text;
}

/** @throws Error if the page is offline, and the text of the workers was not loaded before. */
export async function openSandbox(): Promise<Sandbox> {
  const source = await workerText();
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("aria-hidden", "true");
  frame.referrerPolicy = "no-referrer";
  frame.title = "The two processes";
  frame.hidden = true;
  const nonce = crypto.randomUUID();
  const policy = `default-src 'none'; script-src 'nonce-${nonce}' 'unsafe-eval'; worker-src blob:`;
  frame.srcdoc = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}"><script nonce="${nonce}">${START}</script>`;
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  document.body.append(frame);
  await loaded;
  const channels = Array.from({ length: PROCESSES }, () => new MessageChannel());
  const theirs = channels.map(({ port2 }) => port2);
  // The frame's origin has no name, so no other target than "*" would reach it.
  frame.contentWindow!.postMessage(source, "*", theirs);
  return { ports: channels.map(({ port1 }) => port1), remove: () => frame.remove() };
}
