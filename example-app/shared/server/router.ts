/** The API: one router for each part of the page, and the package's own. */
import { behindRouter } from "../../behind/server.js";
import { chatRouter } from "../../chat/server.js";
import { controlRoomRouter } from "../../control-room/server.js";
import { logInRouter } from "../../log-in/server.js";
import { modelRouter } from "../../model/server.js";
import { overviewRouter } from "../../overview/server.js";
import type { Phone } from "../../phone/phone.js";
import { phoneRouter } from "../../phone/server.js";
import { playgroundRouter } from "../../playground/server.js";
import type { RaceProcesses } from "../../race/processes.js";
import { raceRouter } from "../../race/server.js";
import { signUpsRouter } from "../../sign-ups/server.js";
import type { PrismaClient } from "../generated/prisma/client.js";
import { createTRPC } from "./trpc.js";

/**
 * @param race the processes of races, where they start before the first race.
 * @param phone makes other devices the visitor of a page.
 */
export function createAppRouter(prisma: PrismaClient, race?: RaceProcesses, phone?: Phone) {
  const app = createTRPC(prisma);
  return app.t.router({
    // Limit: what the page's hooks read.
    rateLimit: app.rl.router,
    // Limit: what the control room reads and does. Its `authorize` decides who may.
    rateLimitAdmin: app.rl.admin,
    overview: overviewRouter(app),
    phone: phoneRouter(app, phone),
    chat: chatRouter(app),
    logIn: logInRouter(app),
    model: modelRouter(app),
    signUps: signUpsRouter(app),
    race: raceRouter(app, race),
    playground: playgroundRouter(app),
    controlRoom: controlRoomRouter(app),
    behind: behindRouter(app),
  });
}

export type AppRouter = ReturnType<typeof createAppRouter>;
