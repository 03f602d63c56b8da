/** Reads an error from an answer of tRPC, or of the handler of limits, as one line for people. */

export interface TrpcError {
  message: string;
  /** The code of the error, such as `UNAUTHORIZED`. */
  code: string | undefined;
  /**
   * Whether a transformer such as superjson has put the error into `{ json }`. If so, inputs need the
   * same form.
   */
  isWrapped: boolean;
}

interface Shape {
  message?: unknown;
  /** A text of the handler of limits, and a number of tRPC. */
  code?: unknown;
  data?: { code?: unknown } | null;
  json?: Shape;
}

/** The most characters that are shown of an error in an unknown form, such as devalue's. */
const MOST = 200;

/**
 * @param text the body of an answer, or the data of an event.
 * @returns `undefined` if the text is neither's.
 */
export function readTrpcError(text: string): TrpcError | undefined {
  const parsed = parse(text) as { error?: Shape | string } & Shape;
  // An answer to a batch is a list.
  const first = (Array.isArray(parsed) ? parsed[0] : parsed) as typeof parsed | undefined;
  const shape = first?.error ?? first;
  if (typeof shape === "string") {
    return { message: firstLine(shape).slice(0, MOST), code: undefined, isWrapped: false };
  }
  const { message, data, code: own } = shape?.json ?? shape ?? {};
  if (typeof message !== "string") return undefined;
  const code = [data?.code, own].find((each) => typeof each === "string");
  return { message: readable(message), code, isWrapped: shape?.json !== undefined };
}

/** Shortens a message of Zod, which is a list of issues as JSON, over many lines. */
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
