/** An application whose customers have plans, and the webhook that changes one. See `upgrade.test.ts`. */
import { createServer } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { initTRPC } from "@trpc/server";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import { build, type Rolldown } from "vite";
import { openDatabase } from "../../example-app/shared/server/database.js";
import { createRateLimiter, DAY, prismaStore } from "../../server/index.js";
import { createRateLimitTRPC, formatRateLimitError } from "../../server/trpc/index.js";

const free = { kind: "fixed window", rate: 5, period: DAY, maxReserved: 0 } as const;
const pro = { ...free, rate: 50 };
type Prisma = Awaited<ReturnType<typeof openDatabase>>;

/** How the application says what the plan is: to the limiter by a function, or by an override. */
export type Way = "changeConfig" | "overrides" | "using";

function createApp(prisma: Prisma) {
  const limiter = createRateLimiter({
    store: prismaStore(prisma),
    limits: { pictures: free },
    overrides: true,
  });
  const t = initTRPC.context<{ visitor: string }>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    key: ({ ctx }) => ctx.visitor,
    async config({ ctx }) {
      const customer = await prisma.visitor.findUnique({ where: { id: ctx.visitor } });
      return customer?.tier === "pro" ? pro : undefined;
    },
  });
  const router = t.router({
    rateLimit: rl.router,
    draw: t.procedure.use(rl.rateLimited("pictures")).mutation(() => "a picture"),
  });

  /** The webhook of the payment. The customer's row and what is left change together. */
  async function change(way: Way, key: string, isUpgrade: boolean): Promise<void> {
    const [from, to] = isUpgrade ? [free, pro] : [pro, free];
    const tier = (tx: Pick<Prisma, "visitor">, plan: string) =>
      tx.visitor.upsert({
        where: { id: key },
        create: { id: key, tier: plan },
        update: { tier: plan },
      });
    if (way === "changeConfig") {
      return limiter.transaction(async ({ tx, changeConfig }) => {
        await tier(tx, isUpgrade ? "pro" : "free");
        await changeConfig("pictures", { key, from, to });
      });
    }
    const set = async (
      tx: Pick<Prisma, "visitor">,
      { overrides }: Pick<typeof limiter, "overrides">,
    ) => {
      await tier(tx, isUpgrade ? "by override" : "free");
      if (isUpgrade) await overrides.set("pictures", { key, config: pro });
      else await overrides.clear("pictures", { key });
    };
    if (way === "overrides") {
      return limiter.transaction(async ({ tx, overrides }) => set(tx, { overrides }));
    }
    await prisma.$transaction(async (tx) => set(tx, limiter.using(tx)));
  }

  return { limiter, router, change };
}

export type UpgradeRouter = ReturnType<typeof createApp>["router"];

async function bundlePage(): Promise<string> {
  const built = (await build({
    configFile: false,
    // It warns of each "use client".
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"development"' },
    build: {
      lib: {
        entry: fileURLToPath(new URL("upgrade-page.tsx", import.meta.url)),
        formats: ["es"],
      },
      write: false,
    },
  })) as Rolldown.RolldownOutput[];
  return built[0]!.output[0].code;
}

export async function startUpgradeServer() {
  const folder = await mkdtemp(join(tmpdir(), "upgrade-"));
  const prisma = await openDatabase(`file:${join(folder, "app.db")}`, 2000);
  const { limiter, router, change } = createApp(prisma);
  const script = await bundlePage();
  const visitorOf = (cookie = "") => /visitor=(\w+)/.exec(cookie)?.[1] ?? "none";
  const answerCall = createHTTPHandler({
    router,
    basePath: "/trpc/",
    createContext: ({ req }) => ({ visitor: visitorOf(req.headers.cookie) }),
  });
  const server = createServer((request, response) => {
    if (request.url!.startsWith("/trpc/")) return answerCall(request, response);
    if (request.url === "/page.js") {
      return void response.setHeader("content-type", "text/javascript").end(script);
    }
    response.setHeader("content-type", "text/html");
    response.end(
      '<link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/page.js"></script>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    limiter,
    change,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await prisma.$disconnect();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
