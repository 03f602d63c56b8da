/** Writes a body to a response of Node.js, as fast as the connection takes it. */

/** The parts of a `ServerResponse` that are used here. */
export interface NodeResponse {
  /** The status of the answer. */
  statusCode: number;
  /** Missing from a response of HTTP/2. */
  readonly destroyed?: boolean;
  /** Sets a header field. */
  setHeader(name: string, value: string): unknown;
  /** Adds a value to a header field. */
  appendHeader(name: string, value: string): unknown;
  /** Sends a part of the body. `false` while the connection has no room. */
  write(chunk: Uint8Array): boolean;
  /** Ends the answer. */
  end(): unknown;
  /** Listens for one event. */
  once(event: "close" | "drain", listener: () => void): unknown;
  /** Ends a listener. */
  off(event: "close" | "drain", listener: () => void): unknown;
}

/** @param gone aborted when the client has left. The body is then cancelled. */
export async function sendBody(
  body: ReadableStream<Uint8Array> | null,
  res: NodeResponse,
  gone: AbortSignal,
): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  gone.addEventListener("abort", cancel);
  if (gone.aborted) cancel();
  for (;;) {
    // Ends when the body is cancelled, too.
    const { done, value } = await reader.read();
    if (done) break;
    if (!res.write(value)) await drained(res, gone);
  }
  gone.removeEventListener("abort", cancel);
}

/** Resolves when the connection has room again, or has ended. */
async function drained(res: NodeResponse, gone: AbortSignal): Promise<void> {
  if (gone.aborted) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      res.off("drain", done);
      gone.removeEventListener("abort", done);
      resolve();
    };
    res.once("drain", done);
    gone.addEventListener("abort", done);
  });
}
