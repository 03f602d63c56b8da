/** The edits of a T3 app's files, each at the text as create-t3-app writes it. */
import { applyEdits, type Edit, indented, indentUnit } from "./anchors.js";
import { matchesInCode } from "./code.js";
import { codeStyleOf, inStyle } from "./code-style.js";
import { importText } from "./import-text.js";

export interface T3Options {
  /** The alias of `src/`, such as `~/`. */
  alias: string;
  hasSession: boolean;
}

/** Lines with two spaces per level, double quotes and semicolons, changed to what the file has. */
function inUnit(text: string, lines: string): string {
  const unit = indentUnit(text);
  const styled = inStyle(lines, codeStyleOf(text));
  return styled.replace(/^(?: {2})+/gm, (spaces) => unit.repeat(spaces.length / 2));
}

const ADDRESS = `ipKey(ctx.headers.get("x-forwarded-for")?.split(",").at(-1))`;

function keyText(hasSession: boolean): string {
  if (!hasSession) return `  key: ({ ctx }) =>\n    ${ADDRESS},`;
  return `  key: ({ ctx }) =>
    ctx.session?.user
      ? \`user:\${ctx.session.user.id}\`
      : ${ADDRESS},`;
}

/** What comes after \`const t\`. */
export function rateLimitSection({ hasSession }: T3Options): string {
  const who = hasSession
    ? ": that of a user who is logged in, or else of an address"
    : ": that of a visitor's address";
  return `/**
 * RATE LIMITS
 *
 * The limits are in "/src/server/api/limits.ts". \`.use(rateLimited("createPost"))\` charges one of
 * them in a procedure, and components read it with \`useRateLimit("createPost")\`.
 *
 * \`key\` says whose limit it is${who}.
 * The last entry of the header is written by the proxy in front of this server. Behind two proxies,
 * take \`.at(-2)\`. Without a proxy, visitors can choose it: see docs/visitors.md of trpc-rate-limit.
 */
export const { rateLimited, router: rateLimitRouter } = createRateLimitTRPC({
  t,
  limiter,
${keyText(hasSession)}
});`;
}

export const SERVER_IMPORTS = [
  importText("trpc-rate-limit/server", ["ipKey"]),
  importText("trpc-rate-limit/trpc", ["createRateLimitTRPC", "formatRateLimitError"]),
].join("\n");

const ZOD_LINE =
  /^import\s*\{\s*ZodError,?\s*\}\s*from\s*["']zod["'];?[ \t]*(?:\/\/.*)?\n(\n(?=import))?/m;

export function editTrpc(text: string, options: T3Options): string | undefined {
  const limiterImport = inUnit(text, importText(`${options.alias}server/api/limits`, ["limiter"]));
  const edits: Edit[] = [
    {
      find: `return {
        ...shape,
        data: {
          ...shape.data,
          zodError: error.cause instanceof ZodError ? error.cause.flatten() : null,
        },
      };
    },
  });`,
      replace: (found, indent) => {
        const end = found.lastIndexOf("}", found.lastIndexOf("}") - 1);
        const statement = found
          .slice(0, end)
          .trimEnd()
          .replace(/^return\b/, "const withZodError =");
        const rest = found.slice(found.slice(0, end).trimEnd().length);
        return (
          `${statement}\n${indent}${inUnit(text, "return formatRateLimitError(withZodError, error, limiter);")}` +
          `${rest}\n\n${inUnit(text, rateLimitSection(options))}`
        );
      },
    },
    {
      find: `import { ZodError } from "zod";`,
      replace: (found) => `${inUnit(text, SERVER_IMPORTS)}\n${found}`,
    },
  ];
  const edited = applyEdits(text, edits);
  if (edited === undefined) return undefined;
  // The application's own imports come after those of packages, if it has any.
  const [last] = matchesInCode(edited, ZOD_LINE);
  if (last === undefined) return undefined;
  const end = last.index + last[0].length;
  const lines = last[1] === undefined ? `\n${limiterImport}\n` : `${limiterImport}\n`;
  return edited.slice(0, end) + lines + edited.slice(end);
}

export function editRoot(text: string, { alias }: T3Options): string | undefined {
  const trpc = `${alias}server/api/trpc`;
  return applyEdits(text, [
    {
      find: importText(trpc, ["createCallerFactory", "createTRPCRouter"]),
      replace: () =>
        inUnit(
          text,
          importText(trpc, ["createCallerFactory", "createTRPCRouter", "rateLimitRouter"]),
        ),
    },
    {
      find: "export const appRouter = createTRPCRouter({",
      replace: (found) => inUnit(text, `${found}\n  rateLimit: rateLimitRouter,`),
    },
  ]);
}

export const CLIENT_IMPORTS = [
  importText("trpc-rate-limit/client", ["rateLimitLink"]),
  importText("trpc-rate-limit/react", ["createRateLimitReact"]),
];

export const HOOKS = `/** Hooks that know the limits of the server by name. */
export const {
  RateLimitProvider,
  RateLimitCountdown,
  useRateLimit,
  useRateLimitedMutation,
} = createRateLimitReact<AppRouter>();`;

export function editReact(text: string): string | undefined {
  const unit = indentUnit(text);
  return applyEdits(text, [
    {
      find: `import { httpBatchStreamLink, loggerLink } from "@trpc/client";`,
      replace: () =>
        inUnit(
          text,
          importText("@trpc/client", [
            "httpBatchStreamLink",
            "httpSubscriptionLink",
            "loggerLink",
            "splitLink",
          ]),
        ),
    },
    {
      find: `import SuperJSON from "superjson";`,
      replace: (found) => `${found}\n${inUnit(text, CLIENT_IMPORTS.join("\n"))}`,
    },
    {
      find: "export const api = createTRPCReact<AppRouter>();",
      replace: (found) => `${found}\n\n${inUnit(text, HOOKS)}`,
    },
    {
      find: `httpBatchStreamLink({
        transformer: SuperJSON,
        url: getBaseUrl() + "/api/trpc",
        headers: () => {
          const headers = new Headers();
          headers.set("x-trpc-source", "nextjs-react");
          return headers;
        },
      }),`,
      replace: (found, indent) => {
        const split = `// Names the limit of each mutation, such as "post.create": "createPost".
rateLimitLink<AppRouter>({ limits: {} }),
splitLink({
  condition: (op) => op.type === "subscription",
  true: httpSubscriptionLink({
    transformer: SuperJSON,
    url: getBaseUrl() + "/api/trpc",
  }),
  false: `;
        const start = indented(inUnit(text, split), indent).trimStart();
        return `${start}${found.replaceAll("\n", `\n${unit}`)}\n${indent}}),`;
      },
    },
    {
      find: "<api.Provider client={trpcClient} queryClient={queryClient}>{props.children}</api.Provider>",
      replace: (found, indent) =>
        found.replace(
          /\n?\s*\{props\.children\}\s*/,
          indented(
            `\n<RateLimitProvider client={trpcClient}>\n${unit}{props.children}\n</RateLimitProvider>`,
            indent + unit,
          ) + `\n${indent}`,
        ),
    },
  ]);
}
