/** How a client of today reads a document of a server of any version. */
import { TRPCClientError } from "@trpc/client";
import {
  createRateLimitObserver,
  isRateLimitError,
  type RateLimitObserver,
  type RateLimitSnapshot,
} from "../../client/index.js";
import { denialsOf, type RateLimitErrorData } from "../../core/errors.js";
import { HOUR, SECOND } from "../../server/index.js";
import { NOW } from "./histories.js";

/** A response over HTTP, or a message of a stream. */
type ServerDocument = Partial<{
  body: { result?: { data?: unknown }; error?: { data: unknown } };
  denied: ServerDocument;
}>;

/** What the client knows from the document. `undefined` if it is neither a snapshot nor a denial. */
export function read(document: unknown): unknown {
  const { body, denied, ...message } = document as ServerDocument;
  if (denied !== undefined) return read(denied);
  const snapshot = (body === undefined ? message : body.result?.data) as RateLimitSnapshot;
  if (typeof snapshot?.config === "object") {
    return reading((observer) => observer.receive(snapshot), snapshot);
  }
  // As tRPC's client receives it, or as the body of a response.
  const error = body?.error ? TRPCClientError.from(body as never) : { data: { rateLimit: body } };
  if (!isRateLimitError(error)) return undefined;
  const { rateLimit } = error.data;
  return {
    denials: denialsOf(rateLimit).map(({ name, retryAfter }) => ({ name, retryAfter })),
    ...reading((observer) => observer.recordDenial(rateLimit, rateLimit), rateLimit),
  };
}

function reading(
  tell: (observer: RateLimitObserver) => void,
  { name, key }: Pick<RateLimitSnapshot, "name" | "key"> | (RateLimitErrorData & { key?: string }),
) {
  const item = { name, ...(key !== undefined && { key }) };
  const observer = createRateLimitObserver({
    clock: () => NOW,
    // The document is all that it ever learns.
    transport: { status: () => new Promise(() => {}), watch: () => () => {} },
  });
  const stop = observer.observe(item, 1, () => {});
  tell(observer);
  const calls = [
    [NOW, 1],
    [NOW + SECOND, 2],
    [NOW + HOUR, 1],
  ] as const;
  const found = {
    status: observer.status(item, 1),
    remaining: observer.remaining(item),
    predictions: calls.map(([at, count]) => {
      const { value, retryAt } = observer.check(item, at, count)!;
      return { at, count, value, retryAt };
    }),
  };
  stop();
  observer.close();
  return JSON.parse(JSON.stringify(found)) as typeof found;
}
