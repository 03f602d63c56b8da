/** The API: one router for each part of the page, and the package's own. */
import type { PrismaClient } from "../generated/prisma/client.js";
import { behindRouter } from "./behind.js";
import { chatRouter } from "./chat.js";
import { logInRouter } from "./log-in.js";
import { modelRouter } from "./model.js";
import { playgroundRouter } from "./playground.js";
import { signUpsRouter } from "./sign-ups.js";
import { createTRPC } from "./trpc.js";

export function createAppRouter(prisma: PrismaClient) {
  const app = createTRPC(prisma);
  return app.t.router({
    rateLimit: app.rl.router,
    chat: chatRouter(app),
    logIn: logInRouter(app),
    model: modelRouter(app),
    signUps: signUpsRouter(app),
    playground: playgroundRouter(app),
    behind: behindRouter(app),
  });
}

export type AppRouter = ReturnType<typeof createAppRouter>;
