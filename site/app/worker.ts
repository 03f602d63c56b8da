/** Starts the server in its worker: for all tabs that share the worker, or for the page that made it. */
import { answerCalls, type Port } from "./answer-calls.js";
import { CONTEXT, createSiteRouter } from "./server.js";

const router = createSiteRouter();
const answer = (port: Port) => answerCalls(port, router, () => CONTEXT);

if ("onconnect" in self) {
  // A shared worker has a port for each page.
  self.addEventListener("connect", (event) => {
    const port = (event as MessageEvent).ports[0]!;
    answer(port);
    port.start();
  });
} else answer(self);
