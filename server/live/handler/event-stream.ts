/** Server-sent events: a snapshot each, and pings that keep the connection open. */

export interface EventStreamOptions {
  /** The id of the stream. `EventSource` sends it again when it reconnects. */
  id: string;
  /** ms between two pings. */
  heartbeat: number;
  /** Aborted when the client has gone, where the host tells that. */
  signal: AbortSignal;
}

const HEADERS = {
  "Content-Type": "text/event-stream",
  // `no-transform`: a proxy that compresses holds events back.
  "Cache-Control": "no-cache, no-transform",
  // nginx passes each event on at once.
  "X-Accel-Buffering": "no",
};

/** An event without data has no effect in a browser, so a ping has some. */
const PING = "event: ping\ndata: {}\n\n";

/**
 * Answers with the events of a generator. The first event is awaited, so that a stream that is refused has
 * the status of its refusal, but no longer than one `heartbeat`: while the store fails, the stream opens
 * with pings. A client that is slow gets fewer events and no pings, because the generator is asked for an
 * event only when the connection has room for it.
 *
 * @throws the error of the generator before its first event.
 */
export async function eventStream(
  watch: (signal: AbortSignal) => AsyncGenerator<unknown, void, undefined>,
  { id, heartbeat, signal }: EventStreamOptions,
): Promise<Response> {
  const gone = new AbortController();
  const events = watch(gone.signal);
  let pings: ReturnType<typeof setInterval> | undefined;
  let open = () => {};
  const isLate = new Promise<void>((resolve) => (open = resolve));
  const end = () => {
    clearInterval(pings);
    signal.removeEventListener("abort", end);
    gone.abort();
    // The signal wakes a generator that waits. This call ends a generator that waits for its next event to be asked for.
    void events.return();
  };
  let next: Promise<IteratorResult<unknown, void>> | undefined;
  const encoder = new TextEncoder();
  // A line end in an id would end its line. Ids of clients are texts of any kind.
  const field = /[\r\n\0]/.test(id) ? "" : `id: ${id}\n`;

  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const ping = () => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(PING));
      };
      ping();
      pings = setInterval(() => {
        ping();
        open();
      }, heartbeat);
    },
    async pull(controller) {
      try {
        const { done, value } = await (next ?? events.next());
        next = undefined;
        if (!done) {
          const text = `${field}data: ${JSON.stringify(value)}\n\n`;
          return controller.enqueue(encoder.encode(text));
        }
      } catch {
        // A key was refused, or the store has failed. The client opens the stream anew, and is answered
        // with the reason.
      }
      end();
      controller.close();
    },
    cancel: end,
  });
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  // The first ping fills the body, so the body asks for no event yet.
  next = events.next();
  await Promise.race([next, isLate]).catch((error: unknown) => {
    end();
    throw error;
  });
  return new Response(body, { headers: HEADERS });
}
