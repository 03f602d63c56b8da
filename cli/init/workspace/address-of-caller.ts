/** Where each host of tRPC finds the address of a caller, for the context. */

const BELIEVE = `/**
 * The last entry of the header is written by the proxy in front of this server. Behind two proxies,
 * take \`.at(-2)\`. Without a proxy, visitors can choose it: see docs/visitors.md of trpc-rate-limit.
 */`;
const FORWARDED = `("x-forwarded-for")?.split(",").at(-1)`;

/** Where a server finds the address of a caller. */
export interface Host {
  /** What the file of the context names. */
  mark: RegExp;
  /** The parameter, and the name in it. */
  parameter: (found: string) => string | undefined;
  /** The value of `address`. */
  value: string;
  /** A function for the end of the file. */
  helper?: string;
  from?: string;
}

const BY_PROXY_OR_CONNECTION = `${BELIEVE}
function addressOf(context: HonoContext): string | undefined {
  const forwarded = context.req.header${FORWARDED};
  return forwarded ?? getConnInfo(context).remote.address;
}`;

const BY_CLOUDFLARE = `/** Cloudflare sets the header that it comes from. */
function addressOf(context: HonoContext): string | undefined {
  return getConnInfo(context).remote.address;
}`;

const destructured = (name: string) => (found: string) =>
  found.startsWith("{")
    ? new RegExp(String.raw`\{[^}]*\b${name}\b`).test(found)
      ? found
      : undefined
    : found.replace(/^\w+/, `{ ${name} }`);

const ON_WORKERS = "hono/cloudflare-workers";

function hono(from: string): Host {
  return {
    mark: /\bHonoContext\b/,
    parameter: destructured("context"),
    value: "address: addressOf(context)",
    helper: from === ON_WORKERS ? BY_CLOUDFLARE : BY_PROXY_OR_CONNECTION,
    from,
  };
}

/** @param packages of the server. */
export function hostsOf(packages: ReadonlySet<string>): Host[] {
  const conninfo = packages.has("@hono/node-server")
    ? "@hono/node-server/conninfo"
    : packages.has("@cloudflare/workers-types") || packages.has("alchemy")
      ? ON_WORKERS
      : "hono/bun";
  return [
    hono(conninfo),
    {
      mark: /\bCreate(?:Express|Fastify)ContextOptions\b/,
      parameter: destructured("req"),
      // As the setting for proxies of the framework says.
      value: "address: req.ip",
    },
    ...(packages.has("@tanstack/react-start")
      ? [
          {
            mark: /\{\s*req\s*\}\s*:\s*\{\s*req:\s*Request\b/,
            parameter: destructured("req"),
            value: "address: addressOf(req)",
            helper: `${BELIEVE}
function addressOf(req: Request): string | undefined {
  return req.headers.get${FORWARDED} ?? getRequestIP();
}`,
            from: "@tanstack/react-start/server",
          },
        ]
      : []),
    {
      mark: /\b_?req\s*:\s*(?:NextRequest|Request)\b/,
      parameter: (found) =>
        /^(\{\s*)?req\b|^_req\b/.test(found) ? found.replace(/^_/, "") : undefined,
      value: "address: addressOf(req)",
      helper: `${BELIEVE}
function addressOf(req: Request): string | undefined {
  return req.headers.get${FORWARDED};
}`,
    },
    {
      mark: /\bopts\s*:\s*\{[^}]*\bheaders\s*:\s*Headers\b/,
      parameter: (found) => found,
      value: "address: addressOf(opts.headers)",
      helper: `${BELIEVE}
function addressOf(headers: Headers): string | undefined {
  return headers.get${FORWARDED};
}`,
    },
  ];
}
