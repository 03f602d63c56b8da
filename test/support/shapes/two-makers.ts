/** One server that makes the context of its requests, and that of its sockets. */
import { application, EXPRESS } from "../trpc-applications.js";
import type { Shape } from "./shape.js";

export const TWO_MAKERS: Shape = {
  name: "a context that requests and sockets make, each in its own file",
  files: application({
    ...EXPRESS,
    packages: ["express", "ws"],
    context: `import type { CreateExpressContextOptions } from "@trpc/server/adapters/express";
import type { Pool } from "pg";
import { pool } from "./db";

export interface Context {
  pool: Pool;
}

export const createContext = ({ res }: CreateExpressContextOptions): Context => {
  res.setHeader("x-served-by", "depot");
  return { pool };
};
`,
    more: {
      "src/socket.ts": `import { applyWSSHandler, type CreateWSSContextFnOptions } from "@trpc/server/adapters/ws";
import { WebSocketServer } from "ws";
import type { Context } from "./context";
import { pool } from "./db";
import { appRouter } from "./router";

const createSocketContext = ({ info }: CreateWSSContextFnOptions): Context => {
  console.info("a socket with", info.connectionParams);
  return { pool };
};

applyWSSHandler({
  wss: new WebSocketServer({ port: 4001 }),
  router: appRouter,
  createContext: createSocketContext,
});
`,
    },
  }),
  right: {
    written: {
      "src/context.ts": ["address?: string | undefined", "{ req, res }", "address: req.ip"],
    },
    handled: ["src/socket.ts"],
  },
};
