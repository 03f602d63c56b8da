/** The handler of limits in Elysia, on Bun. Prints its URL. */
import { Elysia } from "elysia";
import * as server from "../../server/index.js";
import { createHandlerApp } from "../support/handler-app.js";

const handler = createHandlerApp(server);
new Elysia()
  .all("/api/limits", ({ request }) => handler(request))
  .listen({ hostname: "127.0.0.1", port: 0 }, ({ port }) => {
    console.log(`http://127.0.0.1:${port}`);
  });
