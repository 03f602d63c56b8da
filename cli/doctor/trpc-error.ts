/** What an answer of tRPC says went wrong, in one line for people. */

export interface TrpcError {
  message: string;
  /** Such as `UNAUTHORIZED`. */
  code: string | undefined;
  /** Whether a transformer such as superjson has put it into `{ json }`. Then it wants inputs so, too. */
  isWrapped: boolean;
}

interface Shape {
  message?: unknown;
  data?: { code?: unknown } | null;
  json?: Shape;
}

/** The most that is shown of an error in a form that is not known, such as that of devalue. */
const MOST = 200;

/** @param text the body of an answer, or the data of an event; `undefined` if it is not tRPC's. */
export function readTrpcError(text: string): TrpcError | undefined {
  const parsed = parse(text) as { error?: Shape | string } & Shape;
  // An answer to a batch is a list.
  const first = (Array.isArray(parsed) ? parsed[0] : parsed) as typeof parsed | undefined;
  const shape = first?.error ?? first;
  if (typeof shape === "string") {
    return { message: firstLine(shape).slice(0, MOST), code: undefined, isWrapped: false };
  }
  const { message, data } = shape?.json ?? shape ?? {};
  if (typeof message !== "string") return undefined;
  const code = typeof data?.code === "string" ? data.code : undefined;
  return { message: readable(message), code, isWrapped: shape?.json !== undefined };
}

/** Zod's message is a list of issues as JSON, over many lines. */
function readable(message: string): string {
  const issues = parse(message);
  if (!Array.isArray(issues)) return firstLine(message);
  const texts = (issues as { path?: unknown[]; message?: unknown }[]).map((issue) => {
    const place = issue?.path?.join(".") ?? "";
    return `${place === "" ? "" : `${place}: `}${firstLine(String(issue?.message))}`;
  });
  return texts.join("; ");
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]!;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
