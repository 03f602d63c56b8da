/** The HTTP server: tRPC at `/trpc` and `/trpc-2`, the page everywhere else. */
import { createServer, type Server } from "node:http";
import { fileURLToPath } from "node:url";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import sirv from "sirv";
import type { Phone } from "../../phone/phone.js";
import type { RaceProcesses } from "../../race/processes.js";
import type { PrismaClient } from "../generated/prisma/client.js";
import { createAppRouter } from "./router.js";
import { giveCookie, loadSecret, type Seat, visitorOf } from "./session.js";

const PAGE = fileURLToPath(new URL("../../dist", import.meta.url));
const SEATS = ["", "-2"] as const;
/** The longest body of a request, bytes. No message is as large. */
const MAX_BODY = 16 * 1024;

/**
 * @param folder the built page.
 * @param process which of the server's processes this is, from 1.
 * @param race starts when the server listens, and again when the page is asked for. @default the
 *   processes of a race start with the first race
 * @param phone makes other devices the visitor of a page. @default no other device becomes one
 */
export async function createApp(
  prisma: PrismaClient,
  folder: string = PAGE,
  process: number = 1,
  race?: RaceProcesses,
  phone?: Phone,
): Promise<Server> {
  const secret = await loadSecret(prisma);
  const router = createAppRouter(prisma, race, phone);
  const createApi = (seat: Seat) =>
    createHTTPHandler({
      basePath: `/trpc${seat}/`,
      router,
      createContext: ({ req, res }) => ({ visitor: visitorOf(req, res, secret, seat), process }),
      maxBodySize: MAX_BODY,
    });
  const apis = SEATS.map((seat) => ({ start: `/trpc${seat}/`, handle: createApi(seat) }));
  const page = sirv(folder, { etag: true, gzip: true });
  const server = createServer((req, res) => {
    const api = apis.find(({ start }) => req.url?.startsWith(start));
    if (api) {
      api.handle(req, res);
      return;
    }
    if (phone?.answer(req, res, (visitor) => giveCookie(res, secret, "", visitor))) return;
    const seat = req.url?.startsWith("/?seat=2") ? "-2" : "";
    // The page sets the cookie, so that all its calls come from one visitor.
    const visitor = visitorOf(req, res, secret, seat);
    if (/^\/(?:index\.html)?(?:\?|$)/.test(req.url ?? "")) {
      race?.start();
      if (seat === "") phone?.see(req, visitor);
    }
    page(req, res, () => {
      res.statusCode = 404;
      res.end("Not found");
    });
  });
  server.once("listening", () => race?.start());
  return server;
}
