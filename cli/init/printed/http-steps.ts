/** The steps for an application without tRPC: what `init` has not written of a route and its page. */
import { indented } from "../code/code.js";
import { inStyle } from "../code/code-style.js";
import { importText } from "../code/imports.js";
import { buttonLines, hooksText, rootLines } from "../edits/page.js";
import { handlerFileOf, limitsHandlerText } from "../edits/limits-handler.js";
import { mountText, routeFileText, routeLines } from "../edits/route.js";
import { hooksFileOf, wiresAction } from "../edits/wire-http.js";
import type { Application } from "../facts/application.js";
import { sourceWith } from "../facts/member.js";
import { specifierOfFile } from "../facts/specifiers.js";
import { isNative } from "../facts/web.js";
import { NATIVE } from "./trpc-steps.js";

const DOCS = "docs/http.md of trpc-rate-limit has more";
const URL_OF_LIMITS = "/api/limits";

/** Fastify has hooks of its own, and no middleware that could charge a limit. */
const FASTIFY = `const handler = createRateLimitHandler({
  limiter,
  context: (_request: unknown, request: FastifyRequest) => request,
  key: ({ ctx }) => ipKey(ctx.ip), // or the id of the user; see docs/visitors.md of trpc-rate-limit
});

const limitsHandler = toNodeHandler(handler, (request: FastifyRequest) => request);

app.all("${URL_OF_LIMITS}", (request, reply) => {
  reply.hijack();
  limitsHandler(request, reply.raw);
});

app.post("/posts", async (request, reply) => {
  const key = ipKey(request.ip);
  const result = await limiter.limit("createPost", { key, throws: true });
  reply.headers(rateLimitHeaders(result, { limiter, name: "createPost", key }));
  return …;
});

app.setErrorHandler((error, _request, reply) => reply.send(rateLimitResponse(error)));`;

const RETRY_AFTER = `const response = await fetch("/posts", { method: "POST", body });
if (response.status === 429) {
  const { retryAfter } = await response.json(); // milliseconds
}`;

const OTHER_ORIGIN =
  "the page does not reach the API by a path, as far as the code shows: let a proxy, such as that of " +
  "Vite, pass /api on to the API, or give url the whole address, with CORS";

export function httpSteps(app: Application): string[] {
  return [...serverSteps(app), ...pageSteps(app)];
}

const code = ({ project }: Application, text: string) =>
  `${indented(inStyle(text.trimEnd(), project.api.style), "  ")}\n`;

function serverSteps(app: Application): string[] {
  const { project, limits } = app;
  const http = app.http!;
  const { host, page, action } = http;
  if (wiresAction(app)) return [];
  const { api } = project;
  if (host === undefined && api.packages.has("fastify")) return [fastifyStep(app)];
  const kind =
    host?.kind ??
    (api.packages.has("hono") ? "hono" : api.packages.has("express") ? "express" : "next");
  const file = handlerFileOf(limits.file);
  const server = sourceWith(api, /\b(express|new Hono)\s*[(<]/i);
  const place = action?.route ?? (host && "app" in host ? host.file : server);
  const from = {
    handler: specifierOfFile(project, place ?? file.replace(/[^/]*$/, "_"), file),
    limits: specifierOfFile(project, place ?? file.replace(/[^/]*$/, "_"), limits.file),
  };
  const route = `limit a route${place === undefined ? "" : `, such as one in ${place}`} (${DOCS}):\n\n${code(app, routeLines(host, action?.target ?? "/posts", from))}`;
  if (http.wired || http.present !== undefined) return [route];
  const isLive = page !== undefined || isNative(api);
  return [
    `make ${file}:\n\n${code(app, limitsHandlerText(project, { kind }, limits.file, isLive))}`,
    ...(isLive ? [mountStep(app, file)] : []),
    route,
  ];
}

function mountStep(app: Application, handler: string): string {
  const { project, http } = app;
  const host = http!.host;
  const at = host?.file ?? handler.replace(/[^/]*$/, "_");
  const from = specifierOfFile(project, at, handler);
  const imported = importText(from, ["limitsHandler"]);
  if (host === undefined) {
    return `serve limitsHandler at ${URL_OF_LIMITS}, for GET and POST (${DOCS})`;
  }
  const text = "app" in host ? `${imported}\n\n${mountText(host)}` : routeFileText(host, from);
  return `serve the limits, in ${host.file}:\n\n${code(app, text)}`;
}

function fastifyStep(app: Application): string {
  const { project, limits } = app;
  const { api } = project;
  const server = sourceWith(api, /\bfastify\s*[(<]/i);
  const isTyped = api.extension === "ts";
  const imports = [
    ...(isTyped ? [`import type { FastifyRequest } from "fastify";`] : []),
    importText("trpc-rate-limit/server", [
      "createRateLimitHandler",
      "ipKey",
      "rateLimitHeaders",
      "rateLimitResponse",
      "toNodeHandler",
    ]),
    importText(specifierOfFile(project, server ?? limits.file, limits.file), ["limiter"]),
  ];
  const text = isTyped ? FASTIFY : FASTIFY.replaceAll(/: (unknown|FastifyRequest)\b/g, "");
  const place = server === undefined ? "" : `, as in ${server}`;
  return `limit a handler${place} (${DOCS}):\n\n${code(app, `${imports.join("\n")}\n\n${text}`)}`;
}

function pageSteps(app: Application): string[] {
  const { project, limits } = app;
  const http = app.http!;
  const { page, host, action } = http;
  if (wiresAction(app)) return [];
  if (page === undefined) return [withoutPage(app)];
  const hooks = page.present ?? hooksFileOf(http, page);
  const near = hooks.replace(/[^/]*$/, "_");
  const button = `show the wait in a component${action === undefined ? "" : `, such as ${action.component}`}:\n\n${code(app, buttonLines(specifierOfFile(project, action?.component ?? near, hooks)))}`;
  if (http.wired || page.present !== undefined) return [button];
  const text = hooksText({
    page,
    url: host?.url ?? URL_OF_LIMITS,
    limits: specifierOfFile(project, hooks, limits.file),
    isNext: page.member.packages.has("next"),
  });
  const why = host === undefined || page.isSameOrigin ? "" : ` (${OTHER_ORIGIN})`;
  return [
    `make ${hooks}${why}:\n\n${code(app, text)}`,
    `put the page into the provider${page.root === undefined ? "" : `, in ${page.root}`}:\n\n${code(app, rootLines(specifierOfFile(project, page.root ?? near, hooks)))}`,
    button,
  ];
}

function withoutPage(app: Application): string {
  const { api } = app.project;
  if (!isNative(api)) {
    return `the client knows from the answer when to try again:\n\n${code(app, RETRY_AFTER)}`;
  }
  const hooks = `${importText("trpc-rate-limit/fetch/react", ["createRateLimitReact", "useCountdown"])}

// With the address of the server. React Native has no EventSource, so its pages poll.
export const { RateLimitProvider, useRateLimit } = createRateLimitReact({ url: "https://…${URL_OF_LIMITS}" });

// In a component, inside of RateLimitProvider:
${NATIVE}`;
  return `show the countdown in a component of React Native:\n\n${code(app, hooks)}`;
}
