/**
 * New monorepos of create-better-t-stack: how each is made and started, and which parts must be removed,
 * because npm's registry lacks them, or because they need other hosts.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { bun } from "../support/bun.js";
import { node24 } from "../support/node-24.js";
import { createPostgres } from "../support/database.js";
import { editFile } from "./edit-file.js";
import { openProject, type Project } from "./project.js";

export const VERSION = "3.44.1";

export interface Stack {
  title: string;
  /** Its folder's name, which is that of its packages, too. */
  name: string;
  /** What runs its server, and installs it: with Node.js, npm. */
  runtime: "bun" | "node";
  orm: "drizzle" | "prisma";
  database: "sqlite" | "postgres";
  frontend: "tanstack-router" | "next";
  /** Without the example, the application has no page of its own that can be limited. */
  example: "todo" | "none";
  auth: "better-auth" | "none";
  /** Only with `NIGHTLY=1`. */
  isNightly?: boolean;
}

export const STACKS: Stack[] = [
  {
    title: "Hono, Bun, Drizzle, SQLite and TanStack Router",
    name: "bun-app",
    runtime: "bun",
    orm: "drizzle",
    database: "sqlite",
    frontend: "tanstack-router",
    example: "todo",
    auth: "none",
  },
  {
    // The schema of its database has no table, and imports nothing.
    title: "the same without an example",
    name: "plain-app",
    runtime: "bun",
    orm: "drizzle",
    database: "sqlite",
    frontend: "tanstack-router",
    example: "none",
    auth: "none",
  },
  {
    title: "the same with better-auth",
    name: "auth-app",
    runtime: "bun",
    orm: "drizzle",
    database: "sqlite",
    frontend: "tanstack-router",
    example: "none",
    auth: "better-auth",
    isNightly: true,
  },
  {
    title: "Hono, Node, Drizzle, SQLite and TanStack Router",
    name: "router-app",
    runtime: "node",
    isNightly: true,
    orm: "drizzle",
    database: "sqlite",
    frontend: "tanstack-router",
    example: "todo",
    auth: "none",
  },
  {
    title: "Hono, Node, Prisma, PostgreSQL and Next",
    name: "next-app",
    runtime: "node",
    orm: "prisma",
    database: "postgres",
    frontend: "next",
    example: "todo",
    auth: "none",
    isNightly: true,
  },
  {
    title: "Hono, Node, Drizzle, PostgreSQL and Next",
    name: "next-drizzle-app",
    runtime: "node",
    orm: "drizzle",
    database: "postgres",
    frontend: "next",
    example: "todo",
    auth: "none",
    isNightly: true,
  },
  {
    title: "Hono, Node, Prisma, PostgreSQL and TanStack Router",
    name: "router-prisma-app",
    runtime: "node",
    orm: "prisma",
    database: "postgres",
    frontend: "tanstack-router",
    example: "todo",
    auth: "none",
    isNightly: true,
  },
];

/** The scaffold, and what it starts, needs Node.js 22.12. */
export const ENV = {
  // The tests are the one proxy, which says from which address they call.
  TRUSTED_PROXIES: "1",
  PATH: [
    dirname(node24 ?? process.execPath),
    // The binary itself has another name.
    ...(bun === undefined ? [] : [join(dirname(bun), "../../.bin")]),
    process.env["PATH"]!,
  ].join(":"),
  // Vite colours what it prints where CI is set.
  NO_COLOR: "1",
  BTS_TELEMETRY_DISABLED: "1",
  TURBO_TELEMETRY_DISABLED: "1",
  NEXT_TELEMETRY_DISABLED: "1",
  NEXT_IGNORE_INCORRECT_LOCKFILE: "1",
  // Prisma looks for it as it is installed, but generating does not run it.
  PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
};

const packageManagerOf = ({ runtime }: Stack) => (runtime === "bun" ? "bun" : "npm");

/** A command that the application has installed. */
export function commandOf({ runtime }: Stack, ...args: string[]): [string, string[]] {
  return runtime === "bun" ? [bun!, ["x", ...args]] : ["npx", args];
}

/** Resolves with the warnings. */
export function install(app: Project, { runtime }: Stack): Promise<string> {
  return runtime === "bun"
    ? app.run(bun!, ["install"], { env: ENV })
    : app.install([], { env: ENV });
}

/** Other shapes, of which only what `init` writes is looked at. */
export const SHAPES = [
  {
    title: "Express and React Router",
    flags:
      "--auth none --backend express --runtime node --database postgres --orm drizzle --frontend react-router",
  },
  {
    title: "Fastify, Prisma and MySQL",
    flags:
      "--auth none --backend fastify --runtime node --database mysql --orm prisma --frontend tanstack-router",
  },
  {
    title: "Next as the server",
    flags:
      "--auth none --backend self --runtime none --database sqlite --orm drizzle --frontend next",
  },
  {
    title: "TanStack Start as the server",
    flags:
      "--auth better-auth --backend self --runtime none --database sqlite --orm drizzle --frontend tanstack-start",
  },
  {
    title: "Expo",
    flags:
      "--auth better-auth --backend hono --runtime node --database sqlite --orm drizzle --frontend native-bare",
  },
];

export async function scaffold(parent: Project, stack: Stack): Promise<Project> {
  const { runtime, database, orm, frontend, auth, example } = stack;
  const flags =
    `--auth ${auth} --backend hono --runtime ${runtime} --database ${database} --orm ${orm} ` +
    `--frontend ${frontend} --examples ${example} --package-manager ${packageManagerOf(stack)}`;
  return scaffoldBy(parent, stack.name, flags);
}

/** @param flags all that the scaffolder would ask, but for what is never asked for here. */
export async function scaffoldBy(parent: Project, name: string, flags: string): Promise<Project> {
  const others =
    "--api trpc --payments none --addons turborepo --db-setup none --web-deploy none " +
    "--server-deploy none --no-git --no-install --disable-analytics --open none";
  const command = ["-y", `create-better-t-stack@${VERSION}`, "create", name];
  await parent.run("npx", [...command, ...`${others} ${flags}`.split(" ")], { env: ENV });
  return openProject(join(parent.root, name));
}

/**
 * With and without limits. `tsdown` 0.23 depends on a package that the registry may lack. The newest
 * `@trpc/tanstack-react-query` may be older there than the other packages of tRPC, whose types then
 * do not fit together; `doctor` says so.
 */
export async function avoidMissing({ root }: Project, { frontend }: Stack): Promise<void> {
  await editFile(join(root, "apps/server/package.json"), [
    /"tsdown": "[^"]*"/,
    '"tsdown": "0.22.0"',
  ]);
  for (const folder of [".", "packages/api", "apps/server", "apps/web"]) {
    const file = join(root, folder, "package.json");
    const text = await readFile(file, "utf8");
    await writeFile(
      file,
      text.replaceAll(/("@trpc\/[\w-]+"): "(?!catalog:)[^"]*"/g, '$1: "11.22.1"'),
    );
  }
  if (frontend !== "next") return;
  // Fonts of Google's.
  await editFile(
    join(root, "apps/web/src/app/layout.tsx"),
    ['import { Geist, Geist_Mono } from "next/font/google";', ""],
    [/= Geist\(\{[^}]*\}\)/, '= { variable: "" }'],
    [/= Geist_Mono\(\{[^}]*\}\)/, '= { variable: "" }'],
  );
}

/** Takes the version of libsql that `init` asks for, where it asks for one. */
export async function takeLibsql({ root }: Project, printed: string): Promise<void> {
  const [, version] = /^\d+\. take @libsql\/client (\S+) in place of/m.exec(printed) ?? [];
  if (version === undefined) return;
  for (const folder of [".", "packages/db", "packages/api", "apps/server", "apps/web"]) {
    const file = join(root, folder, "package.json");
    const text = await readFile(file, "utf8").catch(() => undefined);
    // Not the reference to a catalog, which has a version of its own.
    const taken = text?.replace(/("@libsql\/client": ")[~^]?\d[^"]*/g, `$1${version}`);
    if (taken !== undefined && taken !== text) await writeFile(file, taken);
  }
}

/** The tarball, in place of the version that `init` names and that may not be published yet. */
export async function usePacked(
  { root }: Project,
  { runtime }: Stack,
  tarball: string,
): Promise<void> {
  // With Bun, the version is in the catalog of the root.
  for (const folder of runtime === "bun" ? ["."] : ["packages/api", "apps/server", "apps/web"]) {
    await editFile(join(root, folder, "package.json"), [
      /"trpc-rate-limit": "\^[^"]*"/,
      `"trpc-rate-limit": "file:${tarball}"`,
    ]);
  }
}

export interface Ports {
  server: number;
  web: number;
}

/** Only what is to be limited, and a line that shows the countdown. */
export async function useLimits(
  { root }: Project,
  { frontend, runtime, example, auth }: Stack,
  ports: Ports,
  url: string,
): Promise<void> {
  if (example === "todo") {
    await limitCreate(root);
    await showCountdown(root, frontend);
  } else await addPing(root);
  // Bun takes the port from the environment.
  if (runtime === "node") {
    await editFile(join(root, "apps/server/src/index.ts"), ["port: 3000", `port: ${ports.server}`]);
  }
  const variable = frontend === "next" ? "NEXT_PUBLIC_SERVER_URL" : "VITE_SERVER_URL";
  await writeFile(join(root, "apps/web/.env"), `${variable}=http://localhost:${ports.server}\n`);
  const secret = `BETTER_AUTH_SECRET=${"s".repeat(32)}\nBETTER_AUTH_URL=http://localhost:${ports.server}\n`;
  const env = `CORS_ORIGIN=http://localhost:${ports.web}\nDATABASE_URL=${url}\n${auth === "none" ? "" : secret}`;
  await writeFile(join(root, "apps/server/.env"), env);
}

async function showCountdown(root: string, frontend: Stack["frontend"]): Promise<void> {
  const page = frontend === "next" ? "src/app/todos/page.tsx" : "src/routes/todos.tsx";
  await editFile(
    join(root, "apps/web", page),
    [
      'import { trpc } from "@/utils/trpc";',
      'import { RateLimitCountdown, trpc, useRateLimit } from "@/utils/trpc";',
    ],
    [
      '  const [newTodoText, setNewTodoText] = useState("");',
      '  const [newTodoText, setNewTodoText] = useState("");\n  const { status } = useRateLimit("createPost");',
    ],
    [
      "        <CardContent>\n",
      '        <CardContent>\n          <p id="limit"><span>Wait </span><RateLimitCountdown retryAt={status?.retryAt} /></p>\n',
    ],
  );
  await editFile(join(root, "apps/web/src/utils/trpc.ts"), [
    "limits: {} }",
    'limits: { "todo.create": "createPost" } }',
  ]);
}

/** A procedure to limit, where the scaffold has none. */
async function addPing(root: string): Promise<void> {
  await editFile(
    join(root, "packages/api/src/routers/index.ts"),
    [/router,?\s*\} from "\.\.\/index"/, 'rateLimited, router } from "../index"'],
    [
      "  rateLimit: rateLimitRouter,",
      '  rateLimit: rateLimitRouter,\n  ping: publicProcedure.use(rateLimited("createPost")).mutation(() => "pong"),',
    ],
  );
}

async function limitCreate(root: string): Promise<void> {
  const file = join(root, "packages/api/src/routers/todo.ts");
  const text = await readFile(file, "utf8");
  const [input] = /\.input\(z\.object\(\{ text: [^\n]*\n/.exec(text)!;
  await editFile(
    file,
    [' } from "../index";', ', rateLimited } from "../index";'],
    [input, `${input}    .use(rateLimited("createPost"))\n`],
  );
}

export interface Database {
  url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The URL of a new database, and the way in which it gets its tables. */
export async function openDatabase(
  stack: Stack,
  root: string,
): Promise<Database & { migrate(app: Project): Promise<void> }> {
  const push = async (app: Project) => {
    // Turborepo asks for a terminal here.
    const args =
      stack.runtime === "bun"
        ? ["run", "--cwd", "packages/db", "db:push"]
        : ["run", "db:push", "-w", `@${stack.name}/db`];
    await app.run(packageManagerOf(stack), args, { env: ENV });
  };
  if (stack.database === "sqlite") {
    const url = `file:${join(root, "local.db")}`;
    return { url, migrate: push, async [Symbol.asyncDispose]() {} };
  }
  const database = await createPostgres();
  const { prisma, url } = database;
  const dispose = () => database[Symbol.asyncDispose]();
  if (stack.orm === "drizzle") {
    await prisma.$executeRawUnsafe(`DROP TABLE "RateLimit"`);
    return { url, migrate: push, [Symbol.asyncDispose]: dispose };
  }
  return {
    url,
    [Symbol.asyncDispose]: dispose,
    // Pushing needs an engine that Prisma downloads. The table of the limits is there already.
    async migrate(app) {
      await prisma.$executeRawUnsafe(
        `CREATE TABLE "todo" ("id" SERIAL PRIMARY KEY, "text" TEXT NOT NULL, ` +
          `"completed" BOOLEAN NOT NULL DEFAULT false)`,
      );
      await app.run("npm", ["run", "db:generate", "-w", `@${stack.name}/db`], { env: ENV });
    },
  };
}

/** Starts a process in one of the monorepo's folders. Resolves when it prints `ready`. */
export async function start(
  { root }: Project,
  folder: string,
  [runtime, ...args]: readonly [string, ...string[]],
  ready: RegExp,
  env: Record<string, string> = {},
): Promise<AsyncDisposable> {
  const options = { cwd: join(root, folder), env: { ...process.env, ...ENV, ...env } };
  const child = spawn(runtime, args, options);
  const exited = once(child, "exit");
  await new Promise<void>((resolve, reject) => {
    let log = "";
    const listen = (chunk: Buffer) => {
      log += chunk.toString();
      if (ready.test(log)) resolve();
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("exit", () => reject(new Error(`it exited before it was ready:\n${log}`)));
  });
  return {
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}
