/**
 * The payloads that channels send to other processes: lists of digests, with the sender first. Any user
 * of the database or the server can send something, so every payload is validated. A message is an object
 * in such a list, which earlier versions of the package ignore, as they ignore all that is no digest.
 */

/** Ms within which changes are sent together. */
export const COALESCE = 50;
/** The most changes that wait for a connection; as many as fit into the payloads. */
export const MAX_PENDING = 10_000;
/**
 * The most payloads sent together. If there are more, no payload is sent: the next tick finds the
 * changes.
 */
export const MAX_PAYLOADS = 16;
/** The most messages that wait to be sent. */
export const MAX_MESSAGES = 16;
/** The form of a digest. Anything else in a payload is ignored. */
const DIGEST = /^[\da-z]{1,11}$/;
/** The longest payload, in UTF-8 bytes. PostgreSQL's limit is below 8,000. */
const MAX_PAYLOAD = 7900;

/** Identifies the sender of notifications, so that a process ignores its own ones. */
export function newSender(): string {
  return Math.random().toString(36).slice(2);
}

export function payloadsOf(sender: string, digests: readonly string[]): string[] {
  const groups: string[][] = [];
  let length = Infinity;
  for (const digest of digests) {
    // Digests are ASCII: 1 byte per character, and 3 bytes for two quotes and a comma.
    const added = digest.length + 3;
    length += added;
    if (length > MAX_PAYLOAD) {
      groups.push([]);
      length = added + sender.length + 4;
    }
    groups.at(-1)!.push(digest);
  }
  return groups.map((group) => JSON.stringify([sender, ...group]));
}

/** `undefined` for a message that is too long, or no JSON. */
export function messagePayload(sender: string, message: unknown): string | undefined {
  const payload = JSON.stringify([sender, { message }]);
  return bytesOf(payload) <= MAX_PAYLOAD ? payload : undefined;
}

/** The length of a text in UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/**
 * The sender of a payload, and the digests and messages in the payload. A text that is no payload has none.
 */
export function readPayload(payload: string): {
  from: unknown;
  digests: string[];
  messages: unknown[];
} {
  const [from, ...rest] = parse(payload);
  const messages = rest.flatMap((each) => {
    const isMessage = typeof each === "object" && each !== null && Object.hasOwn(each, "message");
    return isMessage ? [(each as { message: unknown }).message] : [];
  });
  return { from, digests: rest.filter(isDigest), messages };
}

function parse(payload: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(payload);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

function isDigest(value: unknown): value is string {
  return typeof value === "string" && DIGEST.test(value);
}
