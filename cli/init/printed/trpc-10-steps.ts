/** The steps for an application with tRPC 10, which gets nothing of `/trpc`, `/client` and `/react`. */
import { Code, indented } from "../code/code.js";
import { inStyle } from "../code/code-style.js";
import { importText } from "../code/imports.js";
import { specifierOfFile } from "../facts/specifiers.js";
import { callerOf } from "../facts/caller.js";
import { contextOf } from "../facts/context.js";
import type { Member } from "../facts/member.js";
import type { Example } from "../facts/mutations.js";
import type { Project } from "../facts/project.js";

const PEERS = ["@tanstack/react-query", "@trpc/client", "@trpc/server", "zod"];

/**
 * npm refuses an optional peer of another version, now and at each later installation, unless an override
 * names that version. Other package managers only warn.
 */
export function npmStep(members: readonly Pick<Member, "ranges">[]): string {
  const ranges = PEERS.flatMap((name) => {
    const range = members.map((member) => member.ranges[name]).find(Boolean);
    return range === undefined ? [] : [[name, range] as const];
  });
  const added = { overrides: { "trpc-rate-limit": Object.fromEntries(ranges) } };
  const lines = JSON.stringify(added, undefined, 2).split("\n").slice(1, -1).join("\n");
  return (
    "add this to the package.json at the root, because npm refuses the optional peers of tRPC 11 beside " +
    `tRPC 10, then run npm install:\n\n${lines}\n`
  );
}

const PROCEDURE = (
  key: string,
) => `/** Charges a limit in a procedure: \`.use(rateLimited("createPost"))\`. */
export const rateLimited = (name: keyof typeof limits) =>
  t.middleware(async (${key.startsWith("ctx") ? "{ ctx, next }" : "{ next }"}) => {
    // Whose limit it is. For a limit of each visitor, see docs/visitors.md of trpc-rate-limit.
    const key = ${key};
    try {
      await limiter.limit(name, { key, throws: true });
    } catch (error) {
      if (!(error instanceof RateLimitError)) throw error;
      throw new TRPCError({ code: "TOO_MANY_REQUESTS", message: error.message, cause: error });
    }
    return next();
  });

// In what errorFormatter returns, among the fields of data: milliseconds.
retryAfter:
  error.cause instanceof RateLimitError ? error.cause.data.rateLimit.retryAfter : undefined,`;

const COUNTDOWN = (path: string) => `const [retryAt, setRetryAt] = useState<number>();
const mutation = api.${path}.useMutation({
  onError: ({ data }) => {
    if (data?.retryAfter) setRetryAt(Date.now() + data.retryAfter);
  },
});

<RateLimitCountdown retryAt={retryAt}>{(_, text) => \`Wait \${text}\`}</RateLimitCountdown>`;

export function trpc10Steps(
  project: Project,
  limits: string,
  example: Example | undefined,
): string[] {
  const { api, trpcFile = limits } = project;
  const trpc = Code.read(trpcFile, api.sources.get(trpcFile) ?? "");
  const [, user, id] =
    (trpc && /(\S+)\s+\? (`user:[^`]+`)/.exec(callerOf(project, contextOf(project, trpc)).key)) ??
    [];
  const key = user === undefined ? `"all callers"` : `${user} ? ${id} : "visitors"`;
  const path = example?.path ?? "post.create";
  const component = example?.components[0]?.file;
  const code = (text: string) => `${indented(inStyle(text, api.style), "  ")}\n`;
  const imports = [
    importText("@trpc/server", ["TRPCError"]),
    importText("trpc-rate-limit", ["RateLimitError"]),
    importText(specifierOfFile(project, trpcFile, limits), ["limiter", "limits"]),
  ];
  const shown = [
    importText("react", ["useState"]),
    importText("trpc-rate-limit/countdown", ["RateLimitCountdown"]),
  ];
  return [
    `make a middleware in ${trpcFile}, and write .use(rateLimited("createPost")) in ${example === undefined ? "a procedure" : `${path} of ${example.file}`}:\n\n${code(`${imports.join("\n")}\n\n${PROCEDURE(key)}`)}`,
    `show the countdown in a component${component === undefined ? "" : `, such as ${component}`}:\n\n${code(`${shown.join("\n")}\n\n${COUNTDOWN(path)}`)}`,
  ];
}
