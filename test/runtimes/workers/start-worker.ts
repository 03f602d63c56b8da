/**
 * Runs a worker in workerd, the runtime of Cloudflare Workers, through miniflare. The worker is bundled
 * with the package like a worker of an application.
 */
import { existsSync } from "node:fs";
import http from "node:http";
import { createRequire, isBuiltin } from "node:module";
import { Readable } from "node:stream";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Rollup } from "vite";
import type { D1DatabaseLike } from "../../../server/index.js";

const project = new URL("package.json", import.meta.url);

export const hasWorkerd = existsSync(new URL("node_modules/miniflare/package.json", project));
/** The message of a test that is skipped without miniflare. */
export const NO_WORKERD = "needs miniflare: npm run install:test-projects";

/** The bindings of a worker; see the options of miniflare. */
export interface WorkerBindings {
  /** The names of D1 databases, which are empty at the start. */
  d1Databases?: readonly string[];
  /** The class of each binding of Durable Objects. A class with SQLite has `useSQLite`. */
  durableObjects?: Record<string, string | { className: string; useSQLite?: boolean }>;
  /** Connection strings of databases, for bindings to Hyperdrive. */
  hyperdrives?: Record<string, string>;
  /** For example `nodejs_compat`, for clients of databases that use the modules of Node. */
  compatibilityFlags?: readonly string[];
  /** Plain values. */
  bindings?: Record<string, string | number | boolean | object>;
}

export interface StartedWorker extends AsyncDisposable {
  /** Where the worker listens, with a slash at the end. */
  readonly url: string;
  /** Sends a request to the worker. @param path without a slash before it */
  fetch(path?: string, init?: RequestInit): Promise<Response>;
  /** A binding to D1, for this process. The binding has the methods of a worker's own binding. */
  d1(name: string): Promise<D1DatabaseLike>;
}

/** The parts of a `Miniflare` that are used here. Neither miniflare nor its types need be installed. */
interface MiniflareLike {
  readonly ready: Promise<URL>;
  getD1Database(name: string): Promise<D1DatabaseLike>;
  dispose(): Promise<void>;
}

interface MiniflareModule {
  Miniflare: new (options: object) => MiniflareLike;
}

/**
 * Starts a worker, and stops it when it is disposed of.
 *
 * @param worker the file of its source, such as `new URL("worker.ts", import.meta.url)`, or its text, as
 *   a module that needs no bundling.
 */
export async function startWorker(
  worker: URL | string,
  bindings: WorkerBindings = {},
): Promise<StartedWorker> {
  const entry = createRequire(project).resolve("miniflare");
  const { Miniflare } = (await import(pathToFileURL(entry).href)) as MiniflareModule;
  const miniflare = new Miniflare({
    modules: true,
    script: typeof worker === "string" ? worker : await bundleWorker(worker),
    compatibilityDate: "2026-04-01",
    // Otherwise, miniflare would request data about this machine's place from the internet.
    cf: false,
    ...bindings,
  });
  const { href: url } = await miniflare.ready;
  return {
    url,
    fetch: (path = "", init) => request(new URL(path, url), init),
    d1: (name) => miniflare.getD1Database(name),
    [Symbol.asyncDispose]: () => miniflare.dispose(),
  };
}

/** Opens a new connection for each request. `fetch` would reuse a connection that the worker may close. */
function request(url: URL, init: RequestInit = {}): Promise<Response> {
  const { method, headers, body } = new Request(url, init);
  return new Promise((resolve, reject) => {
    const sent = http.request(
      url,
      { method, headers: Object.fromEntries(headers), agent: false },
      (received) => {
        const answer = Readable.toWeb(received) as ReadableStream;
        const { statusCode: status = 0, headers: fields } = received;
        const shown = Object.entries(fields).map(([name, value]) => [name, String(value)]);
        const bodiless = status === 204 || status === 304;
        resolve(
          new Response(bodiless ? null : answer, { status, headers: shown as [string, string][] }),
        );
      },
    );
    sent.on("error", reject);
    if (body === null) sent.end();
    else Readable.fromWeb(body as NodeStream).pipe(sent);
  });
}

const nodeModule = (id: string) => ({ id: id.replace(/^(node:)?/, "node:"), external: true });

/** The source as one module. The module may import the modules of Node that workerd provides. */
async function bundleWorker(source: URL): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "error",
    // React reads this value, and every bundler for Workers replaces it.
    define: { "process.env.NODE_ENV": '"production"' },
    // Packages such as `pg` have builds for workerd.
    resolve: { conditions: ["workerd", "worker", "module"] },
    plugins: [
      { name: "node", enforce: "pre", resolveId: (id) => (isBuiltin(id) ? nodeModule(id) : null) },
    ],
    build: {
      write: false,
      target: "es2022",
      minify: false,
      lib: { entry: fileURLToPath(source), formats: ["es"], fileName: "worker" },
      rollupOptions: { external: [/^cloudflare:/, /^node:/] },
    },
  });
  const [{ output }] = [built].flat() as [Rollup.RollupOutput];
  if (output.length !== 1) throw new Error(`the worker has ${output.length} modules, not one`);
  return withRequire(output[0].code);
}

/**
 * CommonJS packages such as `pg` require modules of Node. A module of workerd can only import these
 * modules.
 */
function withRequire(code: string): string {
  const required = new Set(
    Array.from(code.matchAll(/require\("(node:[^"]+)"\)/g), ([, id]) => id!),
  );
  const imports = [...required].map((id, i) => `import node${i} from "${id}";\n`);
  const entries = [...required].map((id, i) => `"${id}": node${i}`);
  return required.size === 0
    ? code
    : `${imports.join("")}const require = (id) => ({ ${entries.join(", ")} })[id];\n${code}`;
}
