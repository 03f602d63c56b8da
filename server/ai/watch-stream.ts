/** Follows the answer of a model while it is streamed, and changes nothing in it. */

/** Parts that come before anything is generated. */
const NO_CONTENT = new Set<unknown>([
  "stream-start",
  "response-metadata",
  "raw",
  "ping",
  "error",
  "finish",
]);

/** The ways in which a stream ends, for its tokens. None of the methods rejects. */
export interface StreamEnd {
  /**
   * The stream has come to its end.
   *
   * @param usage what the provider has reported; `undefined` if nothing.
   * @param isRefused whether an error came before anything was generated.
   */
  settle(usage: unknown, isRefused: boolean): Promise<void>;
  /** The stream was cut off, or its reader has left. The use of the call will not be known. */
  keep(): Promise<void>;
  /** Resolves when all other work of the call is done. */
  over(): Promise<void>;
}

/**
 * Passes the parts of a stream on. A part is read when the reader asks for it, and handed on before it is
 * looked at. The stream ends after the tokens are settled: a host may stop the process at the end of its
 * response.
 *
 * @param isRefusal whether an error of the stream says that the call has cost nothing.
 */
export function watchStream<TPart>(
  stream: ReadableStream<TPart>,
  end: StreamEnd,
  isRefusal: (error: unknown) => boolean,
): ReadableStream<TPart> {
  const reader = stream.getReader();
  let isGenerated = false;
  let hasError = false;
  let settling: Promise<void> | undefined;

  function see(part: unknown): void {
    const { type, usage } = Object(part) as { type?: unknown; usage?: unknown };
    if (type === "error") hasError = true;
    // Some providers report an error, and the use of the call after the error.
    else if (type === "finish") settling ??= end.settle(usage, hasError && !isGenerated);
    else if (!NO_CONTENT.has(type)) isGenerated = true;
  }
  async function over(): Promise<void> {
    await settling;
    await end.over();
  }

  return new ReadableStream<TPart>(
    {
      async pull(controller) {
        let next;
        try {
          next = await reader.read();
        } catch (error) {
          const isFree = !isGenerated && isRefusal(error);
          settling ??= isFree ? end.settle(undefined, true) : end.keep();
          await over();
          throw error;
        }
        if (next.done) {
          settling ??= end.settle(undefined, hasError && !isGenerated);
          await over();
          controller.close();
        } else {
          controller.enqueue(next.value);
          see(next.value);
        }
      },
      async cancel(reason) {
        try {
          await reader.cancel(reason);
        } finally {
          settling ??= end.keep();
          await over();
        }
      },
    },
    { highWaterMark: 0 },
  );
}
