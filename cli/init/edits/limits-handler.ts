/** The file that serves the limits without tRPC: the key of a request, the handler, and the charge. */
import { codeStyleOf, inStyle } from "../code/code-style.js";
import { byName, importText } from "../code/imports.js";
import type { Host } from "../facts/host.js";
import type { Project } from "../facts/project.js";
import { requesterOf } from "../facts/requester.js";
import { specifierOfFile } from "../facts/specifiers.js";

/** The file beside that of the limits. */
export const handlerFileOf = (limits: string): string =>
  limits.replace(/[^/]*(\.\w+)$/, "limits-handler$1");

type Imports = readonly (readonly [from: string, name: string])[];

/** What a host calls its request, and the type of it. */
const REQUESTS = {
  express: { name: "req", type: "Request", from: "express" },
  hono: { name: "c", type: "Context", from: "hono" },
  next: { name: "request", type: "Request", from: undefined },
  start: { name: "request", type: "Request", from: undefined },
};

/**
 * @param limits the file of the limits.
 * @param hasPage whether a page is told of the limits, and not only charged.
 */
export function limitsHandlerText(
  project: Project,
  { kind }: Pick<Host, "kind">,
  limits: string,
  hasPage = true,
): string {
  const { api } = project;
  const isTyped = api.extension === "ts";
  const file = handlerFileOf(limits);
  const { name, type, from } = REQUESTS[kind];
  const asked = requesterOf(project, { kind }, file);
  const parameter = isTyped ? `${name}: ${type}` : name;
  const [key, session] = [asked.key, asked.session].map((text) =>
    text?.replaceAll(/\$(?!\{)/g, name),
  );
  const how = { kind, name, parameter, isTyped, isOfMoment: asked.isOfMoment };
  const parts = [chargeOf(how), ...(hasPage ? [handlerOf(how)] : [])];
  const all: Imports = [
    ...asked.imports.filter(([module]) => !isOwn(module)),
    ...parts.flatMap(({ imports }) => imports),
  ];
  const text = [
    ...(isTyped && from !== undefined ? [`import type { ${type} } from "${from}";`] : []),
    ...importLines(all),
    "",
    ...importLines([
      ...asked.imports.filter(([module]) => isOwn(module)),
      [specifierOfFile(project, file, limits), "limiter"],
    ]),
    "",
    "/** Whose limits a request counts for. No caller can choose it: see docs/visitors.md of trpc-rate-limit. */",
    ...keyLines(key!, session, parameter),
    ...parts.flatMap(({ lines }) => ["", ...lines]),
    "",
  ].join("\n");
  const near = api.sources.get(limits);
  return inStyle(text, near === undefined ? api.style : codeStyleOf(near));
}

const isOwn = (module: string) => /^(\.|~\/|@\/|#)/.test(module);

function importLines(all: Imports): string[] {
  const modules = new Map<string, Set<string>>();
  for (const [module, name] of all) {
    modules.set(module, (modules.get(module) ?? new Set()).add(name));
  }
  return [...modules]
    .toSorted(([a], [b]) => byName(a, b))
    .map(([module, names]) => importText(module, [...names].toSorted(byName)));
}

function keyLines(key: string, session: string | undefined, parameter: string): string[] {
  if (session === undefined) {
    const line = `export const keyOf = (${parameter}) => ${key};`;
    return line.length <= 80 ? [line] : [`export const keyOf = (${parameter}) =>`, `  ${key};`];
  }
  const [user, visitor] = key.split(" : ipKey");
  return [
    `export async function keyOf(${parameter}) {`,
    `  ${session}`,
    `  if (${user!.replace(" ? ", ") return ")};`,
    `  return ipKey${visitor};`,
    "}",
  ];
}

interface Part {
  lines: readonly string[];
  imports: Imports;
}

interface PartOptions {
  kind: Host["kind"];
  /** The variable of the request. */
  name: string;
  parameter: string;
  isTyped: boolean;
  isOfMoment: boolean;
}

const SERVER = "trpc-rate-limit/server";
const isApp = (kind: Host["kind"]) => kind === "express" || kind === "hono";

/** What charges a limit: middleware, or a function for the routes that are functions of a request. */
function chargeOf({ kind, isTyped }: PartOptions): Part {
  if (isApp(kind)) {
    const binds = kind === "express" ? "createRateLimitExpress" : "createRateLimitHono";
    return {
      lines: [
        "/** Middleware that charges a limit. */",
        `export const { rateLimited } = ${binds}({ limiter, key: keyOf });`,
      ],
      imports: [[`trpc-rate-limit/${kind}`, binds]],
    };
  }
  return {
    lines: [
      "/** Charges a limit. Resolves with the answer to a denied request, and with nothing for others. */",
      ...(isTyped
        ? [
            "export async function rateLimited(",
            "  request: Request,",
            "  name: keyof typeof limiter.limits,",
            "): Promise<Response | undefined> {",
          ]
        : ["export async function rateLimited(request, name) {"]),
      "  try {",
      "    await limiter.limit(name, { key: await keyOf(request), throws: true });",
      "    return undefined;",
      "  } catch (error) {",
      "    return rateLimitResponse(error);",
      "  }",
      "}",
    ],
    imports: [[SERVER, "rateLimitResponse"]],
  };
}

/** What tells pages of the limits. */
function handlerOf({ kind, name, parameter, isTyped, isOfMoment }: PartOptions): Part {
  const how = isApp(kind)
    ? [
        `context: (_request${isTyped ? ": unknown" : ""}, ${parameter}) => ${name},`,
        "key: ({ ctx }) => keyOf(ctx),",
      ]
    : isOfMoment
      ? ["context: keyOf,", "key: ({ ctx }) => ctx,"]
      : ["key: ({ request }) => keyOf(request),"];
  const head = "/** Tells pages of the limits. */";
  const call = (variable: string) => [
    `const ${variable} = createRateLimitHandler({`,
    "  limiter,",
    ...how.map((line) => `  ${line}`),
    "});",
  ];
  const imports = [[SERVER, "createRateLimitHandler"]] as const;
  if (!isApp(kind)) {
    const [first, ...rest] = call("limitsHandler");
    return { lines: [head, `export ${first}`, ...rest], imports };
  }
  const served =
    kind === "hono"
      ? `export const limitsHandler = (${parameter}) => handler(c.req.raw, c);`
      : `export const limitsHandler = toNodeHandler(handler, (${parameter}) => ${name});`;
  return {
    lines: [...call("handler"), "", head, served],
    imports: kind === "hono" ? imports : [...imports, [SERVER, "toNodeHandler"]],
  };
}
