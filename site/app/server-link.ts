/**
 * Replaces the file of this name in `example-app/shared/page`: calls go to a worker. The tabs of one page
 * share the worker where the browser can, so they are pages of one visitor. Elsewhere, each tab has a
 * worker of its own.
 */
import type { CallMessage, Port } from "./answer-calls.js";
import { portLink } from "./port-link.js";
// oxlint-disable-next-line import/default -- Vite gives the address of the built worker.
import url from "./worker.ts?worker&url";

function openPort(): Port {
  if (!("SharedWorker" in globalThis)) return new Worker(url, { type: "module" });
  // The limit that is chosen in the playground is not that of the page about limits.
  const worker = new SharedWorker(url, { type: "module", name: location.pathname });
  const { port } = worker;
  port.start();
  // A worker is not told that a page is gone. A page that the browser keeps may come back.
  addEventListener("pagehide", ({ persisted }) => {
    if (!persisted) port.postMessage({ type: "leave" } satisfies CallMessage);
  });
  return {
    postMessage: (message) => port.postMessage(message),
    addEventListener(type: "message" | "error", listener: (event: MessageEvent) => void) {
      // A script that cannot be loaded is told to the worker, and not to its port.
      (type === "error" ? worker : port).addEventListener(type, listener as () => void);
    },
  };
}

export const serverLink = portLink(openPort());
