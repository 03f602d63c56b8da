/** The edits of the files of a server: tRPC's, the router's, the context's, the database's. */
import { indented, indentUnit } from "../anchors.js";
import { appended, matchesInCode } from "../code.js";
import { codeStyleOf, inStyle } from "../code-style.js";
import { hostsOf } from "./address-of-caller.js";
import { withImport } from "./imports.js";
import { bracketed, closing, indentAt, propertiesOf, replaced } from "./places.js";
import { codeOf } from "../code.js";

/** This command's own lines, as the file writes its code. */
export function styled(text: string, lines: string): string {
  const unit = indentUnit(text);
  return inStyle(lines, codeStyleOf(text)).replace(/^(?: {2})+/gm, (spaces) =>
    unit.repeat(spaces.length / 2),
  );
}

export interface SectionOptions {
  /** How the file imports the limits. */
  limits: string;
  hasSession: boolean;
}

export function section({ limits, hasSession }: SectionOptions): string {
  const who = hasSession
    ? "that of a user who is logged in, or else of an address"
    : "that of a visitor's address";
  const key = hasSession
    ? `  key: ({ ctx }) =>
    ctx.session?.user ? \`user:\${ctx.session.user.id}\` : ipKey(ctx.address),`
    : "  key: ({ ctx }) => ipKey(ctx.address),";
  return `/**
 * RATE LIMITS
 *
 * The limits are in "${limits}". \`.use(rateLimited("createPost"))\` charges one of them in a
 * procedure, and components read it with \`useRateLimit("createPost")\`.
 *
 * \`key\` says whose limit it is: ${who}.
 */
export const { rateLimited, router: rateLimitRouter } = createRateLimitTRPC({
  t,
  limiter,
${key}
});`;
}

const FORMATTER =
  "errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),";

/** `undefined` where `const t` is not made by `initTRPC…create(…)`, or formats errors in another way. */
export function editTrpcFile(text: string, options: SectionOptions): string | undefined {
  const declared = /^(?:export )?const t\s*=\s*initTRPC\b[^;]*?\.create\s*\(/gm;
  const call = bracketed(text, declared);
  if (call === undefined) return undefined;
  const unit = indentUnit(text);
  const code = codeOf(text);
  const object = /^\s*\{/.exec(code.slice(call.open + 1));
  let edited: string;
  if (/^\s*\)/.test(code.slice(call.open + 1))) {
    const lines = `({\n${unit}${inStyle(FORMATTER, codeStyleOf(text))}\n})`;
    edited = replaced(text, { start: call.open, end: call.end }, lines);
  } else if (object !== null) {
    const open = call.open + object[0].length;
    const properties = propertiesOf(text, open);
    const formatter = properties.get("errorFormatter");
    if (formatter === undefined) {
      edited = replaced(
        text,
        { start: open + 1, end: open + 1 },
        `\n${unit}${inStyle(FORMATTER, codeStyleOf(text))}`,
      );
    } else {
      const wrapped = wrapFormatter(formatter);
      if (wrapped === undefined) return undefined;
      const start = text.indexOf(formatter, open);
      edited = replaced(text, { start, end: start + formatter.length }, wrapped);
    }
  } else return undefined;
  const end = closing(codeOf(edited), call.open);
  if (end === undefined) return undefined;
  const after = end + /^;?[ \t]*(?:\/\/[^\n]*)?/.exec(edited.slice(end))![0].length;
  edited = `${edited.slice(0, after)}\n\n${styled(text, section(options))}${edited.slice(after)}`;
  edited = withImport(edited, "trpc-rate-limit/server", ["ipKey"]);
  edited = withImport(edited, "trpc-rate-limit/trpc", [
    "createRateLimitTRPC",
    "formatRateLimitError",
  ]);
  return withImport(edited, options.limits, ["limiter"]);
}

/** `({ shape, error }) => ({ … })`, whose object is passed through. */
function wrapFormatter(formatter: string): string | undefined {
  const head =
    /^errorFormatter\s*:\s*\(\{\s*(?:shape\s*,\s*error|error\s*,\s*shape)\s*,?\s*\}\)\s*=>\s*\(/.exec(
      formatter,
    );
  if (head === null) return undefined;
  const open = head[0].length - 1;
  const end = closing(codeOf(formatter), open);
  if (end !== formatter.length) return undefined;
  const start = formatter.slice(0, open).trimEnd();
  const shape = formatter.slice(open + 1, end - 1).trim();
  const indent = indentAt(formatter, formatter.length);
  const inner = indented(shape, "    ").trimStart().replace(/,\s*$/, "");
  return `${start}\n${indent}  formatRateLimitError(\n${indent}    ${inner},\n${indent}    error,\n${indent}    limiter,\n${indent}  )`;
}

/** @param trpc how the file of the router imports that of tRPC. */
export function editRouter(text: string, trpc: string): string | undefined {
  const made = bracketed(text, /^export const appRouter\s*=\s*[\w.]+\(\{/gm);
  if (made === undefined) return undefined;
  const line = `\n${indentUnit(text)}rateLimit: rateLimitRouter,`;
  const edited = replaced(text, { start: made.open + 1, end: made.open + 1 }, line);
  return withImport(edited, trpc, ["rateLimitRouter"]);
}

const FIELD = `/** Of the caller, for the limits of visitors. */
address: string | undefined;`;

/** @param name of the type. */
export function editContextType(text: string, name: string): string | undefined {
  const pattern = new RegExp(
    String.raw`^export\s+(?:type\s+${name}\s*=\s*|interface\s+${name}\s*)\{`,
    "gm",
  );
  const made = bracketed(text, pattern);
  if (made === undefined) return undefined;
  const unit = indentUnit(text);
  const lines = indented(inStyle(FIELD, codeStyleOf(text)), unit);
  return replaced(text, { start: made.open + 1, end: made.open + 1 }, `\n${lines}`);
}

const NAMES: Record<string, string> = { "@tanstack/react-start/server": "getRequestIP" };

/** @param creator the name of the function that makes the context. */
export function editCreateContext(
  text: string,
  creator: string,
  packages: ReadonlySet<string>,
): string | undefined {
  const host = hostsOf(packages).find(({ mark }) => mark.test(text));
  const head = bracketed(
    text,
    new RegExp(
      String.raw`^export\s+(?:async\s+function\s+${creator}|function\s+${creator}|const\s+${creator}\s*=\s*(?:async\s*)?)\s*\(`,
      "gm",
    ),
  );
  if (host === undefined || head === undefined) return undefined;
  const found = text.slice(head.open + 1, head.end - 1);
  const parameter = host.parameter(found.trim());
  if (parameter === undefined) return undefined;
  let edited = replaced(
    text,
    { start: head.open + 1, end: head.end - 1 },
    parameter.trim() === found.trim() ? found : parameter,
  );
  // Another function may follow, but the first `return` of an object is its own.
  const returned = matchesInCode(edited, /^[ \t]*return \{/gm).find(
    ({ index }) => index > head.open,
  );
  if (returned === undefined) return undefined;
  const between = codeOf(edited).slice(head.end, returned.index);
  if (/^\}/m.test(between)) return undefined;
  const at = returned.index + returned[0].length;
  const indent = indentAt(edited, returned.index + returned[0].length);
  edited = `${edited.slice(0, at)}\n${indent}${indentUnit(text)}${host.value},${edited.slice(at)}`;
  if (host.helper) edited = appended(edited, `${styled(text, host.helper)}\n`);
  if (host.from) edited = withImport(edited, host.from, [NAMES[host.from] ?? "getConnInfo"]);
  return edited;
}

/**
 * @param factory the function of the database's package.
 * @param isShared whether all databases that the factory makes are one, such as those of a binding.
 */
export function editServices(
  text: string,
  factory: string,
  from: string,
  isShared: boolean,
): string | undefined {
  if (isShared) return editRequestServices(text, factory, from);
  const pattern = new RegExp(String.raw`^export const (\w+)\s*=\s*${factory}\s*\(`, "gm");
  const made = bracketed(text, pattern);
  const name = matchesInCode(text, pattern)[0]?.[1];
  if (made === undefined || name === undefined) return undefined;
  const end = made.end + /^;?/.exec(text.slice(made.end))![0].length;
  const edited = replaced(text, { start: end, end }, styled(text, `\nkeepLimitsIn(${name});`));
  return withImport(edited, from, ["keepLimitsIn"]);
}

/** In a function that makes the database for each request, and returns it at once. */
function editRequestServices(text: string, factory: string, from: string): string | undefined {
  const pattern = new RegExp(String.raw`^[ \t]*return ${factory}\s*\(`, "gm");
  const made = bracketed(text, pattern);
  const [start] = matchesInCode(text, pattern);
  if (made === undefined || start === undefined) return undefined;
  const end = made.end + /^;?/.exec(text.slice(made.end))![0].length;
  const call = text.slice(text.indexOf(factory, start.index), made.end);
  const indent = indentAt(text, made.end);
  const lines = `const db = ${call};\nkeepLimitsIn(db);\nreturn db;`;
  const edited = replaced(text, { start: start.index, end }, indented(styled(text, lines), indent));
  return withImport(edited, from, ["keepLimitsIn"]);
}
