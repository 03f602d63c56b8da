/** The handler of limits, served by `Deno.serve`. Prints its URL. */
import * as server from "trpc-rate-limit/server";
import { createHandlerApp } from "../../../support/handler-app.ts";

const handler = createHandlerApp(server);
Deno.serve(
  {
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
  },
  (request) => handler(request),
);
