/** The code by which a handler without tRPC asks the limiter, as in docs/http.md. */
import { indented } from "./code/code.js";
import { inStyle } from "./code/code-style.js";
import { importText } from "./code/imports.js";
import { sourceWith, specifierInside } from "./member.js";
import type { Project } from "./project.js";
import { isNative } from "./wire-client.js";

const KEY = "or the id of the user; see docs/visitors.md of trpc-rate-limit";
const CHARGE = `const result = await limiter.limit("createPost", { key, throws: true });`;
const FIELDS = `rateLimitHeaders(result, { limiter, name: "createPost", key })`;
/** The proxy writes the last entry. A server without a proxy gets this machine's own address. */
const FORWARDED = `?.split(",").at(-1) ?? "127.0.0.1"`;

type Host = "express" | "hono" | "fastify" | "response";

const HANDLERS: Record<Host, (isTyped: boolean) => string> = {
  express: (isTyped) => `app.post("/posts", async (req, res) => {
  const key = ipKey(req.ip); // ${KEY}
  ${CHARGE}
  res.set(${FIELDS});
  res.json(…);
});

// After the routes. Express 5 waits for async handlers.
app.use(async (${isTyped ? "error: unknown, _req: Request, res: Response, _next: NextFunction" : "error, _req, res, _next"}) => {
  const response = rateLimitResponse(error);
  res.status(response.status).set(Object.fromEntries(response.headers));
  res.send(await response.text());
});`,
  hono: () => `app.post("/posts", async (c) => {
  // Without a proxy in front, all visitors are this machine: see docs/visitors.md of trpc-rate-limit.
  const address = c.req.header("x-forwarded-for")${FORWARDED};
  const key = ipKey(address); // or the id of the user
  ${CHARGE}
  return c.json(…, 200, ${FIELDS});
});

app.onError((error) =>
  error instanceof HTTPException ? error.getResponse() : rateLimitResponse(error),
);`,
  fastify: () => `app.post("/posts", async (request, reply) => {
  const key = ipKey(request.ip); // ${KEY}
  ${CHARGE}
  reply.headers(${FIELDS});
  return …;
});

app.setErrorHandler((error, _request, reply) => reply.send(rateLimitResponse(error)));`,
  response: (isTyped) => `export async function POST(request${isTyped ? ": Request" : ""}) {
  try {
    // Without a proxy in front, all visitors are this machine: see docs/visitors.md of trpc-rate-limit.
    const address = request.headers.get("x-forwarded-for")${FORWARDED};
    const key = ipKey(address); // or the id of the user
    ${CHARGE}
    return Response.json(…, { headers: ${FIELDS} });
  } catch (error) {
    return rateLimitResponse(error);
  }
}`,
};

const MORE_IMPORTS: Partial<Record<Host, string>> = {
  express: `import type { NextFunction, Request, Response } from "express";\n`,
  hono: `import { HTTPException } from "hono/http-exception";\n`,
};

const RETRY_AFTER = `const response = await fetch("/posts", { method: "POST", body });
if (response.status === 429) {
  const { retryAfter } = await response.json(); // milliseconds
`;

const COUNTDOWN = (
  isTyped: boolean,
) => `const [retryAt, setRetryAt] = useState${isTyped ? "<number>" : ""}();
const seconds = useCountdown(retryAt);

async function send() {
${indented(RETRY_AFTER, "  ").trimEnd()}
    setRetryAt(Date.now() + retryAfter);
  }
}
`;

const BUTTON = `
<button disabled={seconds > 0} onClick={send}>Send</button>
<RateLimitCountdown retryAt={retryAt} />`;

const NATIVE_BUTTON = `
<Button disabled={seconds > 0} title={seconds > 0 ? \`Wait \${seconds}s\` : "Send"} onPress={send} />`;

/** The lines of a countdown. For React, with the components that need no tRPC, as in docs/http.md. */
function countdownLines({ api }: Project): string {
  if (!api.packages.has("react")) return `${RETRY_AFTER}}`;
  const names = isNative(api) ? ["useCountdown"] : ["RateLimitCountdown", "useCountdown"];
  return (
    `${importText("react", ["useState"])}\n${importText("trpc-rate-limit/countdown", names)}\n\n` +
    COUNTDOWN(api.extension === "ts") +
    (isNative(api) ? NATIVE_BUTTON : BUTTON)
  );
}

export function handlerStep(project: Project, limits: string): string[] {
  const { api } = project;
  const isTyped = api.extension === "ts";
  const host = (["express", "hono", "fastify"] as const).find((name) => api.packages.has(name));
  const more = host === "express" && !isTyped ? "" : (MORE_IMPORTS[host ?? "response"] ?? "");
  const server = sourceWith(api, /\b(express|fastify|new Hono)\s*[(<]/i);
  const imports =
    more +
    importText("trpc-rate-limit/server", ["ipKey", "rateLimitHeaders", "rateLimitResponse"]) +
    `\n${importText(specifierInside(api, server ?? limits, limits), ["limiter"])}`;
  const code = (text: string) => `${indented(inStyle(text, api.style), "  ")}\n`;
  return [
    `limit a handler${server === undefined ? "" : `, as in ${server}`} (docs/http.md of trpc-rate-limit has more):\n\n` +
      code(`${imports}\n\n${HANDLERS[host ?? "response"](isTyped)}`),
    "show the countdown in the client, which knows from the answer when to try again:\n\n" +
      code(countdownLines(project)),
  ];
}
