/**
 * Web Locks in memory, for Node versions without them: queues in order, shared and exclusive locks,
 * `steal`, `signal` and `query`. A lock belongs to a client, which is a page here, and ends with that
 * page.
 */
interface Request {
  client: string;
  name: string;
  mode: LockMode;
  /** The lock is granted: runs the callback of `request`. */
  grant(): void;
  /** The promise of `request` rejects. */
  reject(error: unknown): void;
}

type Locks = Pick<LockManager, "request" | "query">;

export function createWebLocks() {
  let held: Request[] = [];
  let pending: Request[] = [];
  let clients = 0;

  function grantPending(): void {
    for (const request of Array.from(pending)) {
      const isFirst = pending.find(({ name }) => name === request.name) === request;
      const others = held.filter(({ name }) => name === request.name);
      const isFree =
        others.length === 0 ||
        (request.mode === "shared" && others.every(({ mode }) => mode === "shared"));
      if (!isFirst || !isFree) continue;
      pending = pending.filter((other) => other !== request);
      held.push(request);
      request.grant();
    }
  }

  function release(request: Request): void {
    held = held.filter((other) => other !== request);
    grantPending();
  }

  /** @param run runs a task of the page: at once, later, or never. */
  function createClient(run: (task: () => void) => void) {
    const client = String(++clients);

    function request(
      name: string,
      ...rest: [LockGrantedCallback<unknown>] | [LockOptions, LockGrantedCallback<unknown>]
    ): Promise<unknown> {
      const callback = rest.at(-1) as LockGrantedCallback<unknown>;
      const { mode = "exclusive", steal, signal, ifAvailable } = rest[0] as LockOptions;
      if (ifAvailable) throw new Error("ifAvailable is not simulated");
      if (steal && (signal || mode !== "exclusive")) {
        return Promise.reject(new DOMException("steal with signal or mode", "NotSupportedError"));
      }
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      return new Promise((resolve, reject) => {
        const own: Request = {
          client,
          name,
          mode,
          grant: () =>
            run(() => {
              // The lock was stolen, or its page is gone.
              if (!held.includes(own)) return;
              const end = () => release(own);
              Promise.resolve(callback({ name, mode } as Lock))
                .finally(end)
                .then(resolve, reject);
            }),
          reject: (error) => run(() => reject(error as Error)),
        };
        signal?.addEventListener("abort", () => {
          if (!pending.includes(own)) return;
          pending = pending.filter((other) => other !== own);
          own.reject(signal.reason);
          grantPending();
        });
        if (steal) {
          for (const other of held.filter((lock) => lock.name === name)) {
            held = held.filter((lock) => lock !== other);
            other.reject(new DOMException("stolen", "AbortError"));
          }
          pending.unshift(own);
        } else pending.push(own);
        grantPending();
      });
    }

    const describe = (requests: readonly Request[]): LockInfo[] =>
      requests.map(({ client: clientId, name, mode }) => ({ clientId, name, mode }));
    const query = () =>
      new Promise<LockManagerSnapshot>((resolve) => {
        run(() => resolve({ held: describe(held), pending: describe(pending) }));
      });

    return {
      locks: { request, query } as Locks,
      /** The page is gone, for whatever reason. */
      end() {
        pending = pending.filter((other) => other.client !== client);
        for (const lock of held.filter((other) => other.client === client)) release(lock);
      },
    };
  }

  return { createClient };
}
