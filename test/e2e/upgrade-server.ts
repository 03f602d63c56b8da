/**
 * An application whose customers have plans, and the webhook that changes a plan. See `upgrade.test.ts`.
 */
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

type Plan = "free" | "pro";
type Prisma = Awaited<ReturnType<typeof openDatabase>>;

/**
 * How the application says what the plan is: to tRPC, to the limiter, or by an override, which is a
 * trial.
 */
export type Way = "tRPC" | "limiter" | "overrides" | "using";

const options = {
  plans: ["free", "pro"],
  limits: {
    pictures: {
      kind: "fixed window",
      period: DAY,
      plans: { free: { rate: 5, maxReserved: 0 }, pro: { rate: 50, maxReserved: 0 } },
    },
  },
} as const;

/** @param saidBy which of the two asks for the plan of a visitor. */
function createApp(prisma: Prisma, saidBy: "tRPC" | "limiter") {
  const planOf = async (id: string | undefined): Promise<Plan> => {
    const customer = await prisma.visitor.findUnique({ where: { id: id ?? "" } });
    return customer?.plan === "pro" ? "pro" : "free";
  };
  const store = prismaStore(prisma);
  const limiter = createRateLimiter({
    ...options,
    store,
    overrides: true,
    plan: ({ key }) => planOf(key),
  });
  const t = initTRPC.context<{ visitor: string }>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    key: ({ ctx }) => ctx.visitor,
    ...(saidBy === "tRPC" && {
      plan: ({ ctx }: { ctx: { visitor: string } }) => planOf(ctx.visitor),
    }),
  });
  const router = t.router({
    rateLimit: rl.router,
    prices: t.procedure.query(() => limiter.plans),
    draw: t.procedure.use(rl.rateLimited("pictures")).mutation(() => "a picture"),
  });

  /** The webhook of the payment. */
  async function change(way: Way, key: string, isUpgrade: boolean): Promise<void> {
    if (way === "tRPC" || way === "limiter") {
      const plan = isUpgrade ? "pro" : "free";
      await prisma.visitor.upsert({
        where: { id: key },
        create: { id: key, plan },
        update: { plan },
      });
      // A call of a process that has read the plan before. The call is denied, and removes nothing.
      if (isUpgrade) await limiter.limit("pictures", { key, plan: "free" });
      limiter.planChanged(key);
      return;
    }
    const set = async ({ overrides }: Pick<typeof limiter, "overrides">) => {
      if (!isUpgrade) return void (await overrides.clear("pictures", { key }));
      const until = Date.now() + 14 * DAY;
      await overrides.set("pictures", { key, plan: "pro", until });
    };
    if (way === "overrides") return limiter.transaction(({ overrides }) => set({ overrides }));
    await prisma.$transaction(async (tx) => set(limiter.using(tx)));
  }

  return { limiter, router, change };
}

export type UpgradeRouter = ReturnType<typeof createApp>["router"];

async function bundlePage(): Promise<string> {
  const built = (await build({
    configFile: false,
    // Vite warns of each "use client".
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

export async function startUpgradeServer(saidBy: "tRPC" | "limiter") {
  const folder = await mkdtemp(join(tmpdir(), "upgrade-"));
  const prisma = await openDatabase(`file:${join(folder, "app.db")}`, 2000);
  const { limiter, router, change } = createApp(prisma, saidBy);
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
