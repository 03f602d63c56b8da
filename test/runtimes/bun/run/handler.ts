/** The handler of limits, served by `Bun.serve`. Prints its URL. */
import * as server from "../../../../server/index.js";
import { createHandlerApp } from "../../../support/handler-app.js";

interface BunLike {
  serve(options: object): { port: number };
}
const { Bun } = globalThis as unknown as { Bun: BunLike };

const handler = createHandlerApp(server);
const { port } = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request: Request) => handler(request),
});
console.log(`http://127.0.0.1:${port}`);
