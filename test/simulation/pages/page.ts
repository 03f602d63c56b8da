/** One page in a browser: a process of its own with the shipped observer, and a visitor who clicks. */
import { isRateLimitError } from "../../../core/errors.js";
import type {
  LimitUse,
  RateLimitItem,
  RateLimitObserver,
  WhenLimited,
} from "../../../client/types.js";
import type { HeldCalls } from "../../../client/react/held-calls.js";
import type { Process } from "../process.js";
import type { Random } from "../random.js";
import type { ShippedForPages, StartShipped } from "../shipped.js";
import { SHOWN, type ShownName } from "../workloads/context.js";
import type { Grant } from "../workloads/live.js";
import type { Served, SendInput } from "./site.js";
import type { Visitor, Web } from "./web.js";

export interface PageOptions {
  id: string;
  visitor: string;
  process: Process;
  random: Random;
  web: Web;
  grants: Grant[];
}

/** How a call has ended. */
export interface Called {
  /** `failed`: it is unknown whether the call has taken tokens. */
  kind: "granted" | "denied" | "failed";
  /** The wait after a denial, ms. */
  retryAfter: number;
}

export class Page implements Visitor {
  readonly id: string;
  readonly visitor: string;
  readonly process: Process;
  readonly random: Random;
  readonly shipped: ShippedForPages;
  readonly observer: RateLimitObserver;
  readonly live: "stream" | "poll";
  readonly names: readonly ShownName[];
  /** Until when the page last stood still, ms. */
  pausedUntil = 0;
  heardAt = 0;
  /** Whether the page's part in the simulation is over. */
  isEnded = false;
  readonly #options: PageOptions;
  readonly #globals: Pick<typeof globalThis, "setTimeout">;
  readonly #unobserve = new Map<ShownName, () => void>();
  readonly #held = new Map<ShownName, HeldCalls>();
  readonly #closeHeld: (() => void)[] = [];
  /** The number of calls without an answer. */
  calling = 0;

  constructor(options: PageOptions, start: StartShipped) {
    const { id, visitor, process, random, web } = options;
    this.#options = options;
    this.id = id;
    this.visitor = visitor;
    this.process = process;
    this.random = random;
    const globals = process.globals();
    this.#globals = globals as never;
    this.shipped = start.forPages(globals);
    const { createRateLimitObserver, createTRPCTransport } = this.shipped;
    this.live = random.chance(0.8) ? "stream" : "poll";
    this.observer = createRateLimitObserver({
      transport: createTRPCTransport(this.#client(web) as never, "rateLimit"),
      live: this.live,
    });
    const all = Object.keys(SHOWN) as ShownName[];
    const names = all.filter(() => random.chance(0.5));
    this.names = names.length > 0 ? names : [random.pick(all)];
  }

  #client(web: Web) {
    const { createTRPCClient, splitLink, httpSubscriptionLink, observable, TRPCClientError } =
      this.shipped;
    return createTRPCClient({
      links: [
        splitLink({
          condition: ({ type }) => type === "subscription",
          true: httpSubscriptionLink({
            url: "http://web/",
            EventSource: web.eventSourceOf(this) as never,
          }),
          false:
            () =>
            ({ op: { path, input } }) =>
              observable((observer) => {
                const fail = (error: Error) => observer.error(TRPCClientError.from(error));
                web.ask(this, path, input).then((served) => {
                  if ("error" in served) return fail(served as never);
                  observer.next({ result: { type: "data", data: served.data } });
                  observer.complete();
                }, fail);
                return () => {};
              }),
        }),
      ],
    });
  }

  /** Sends a request without the observer. */
  ask(path: string, input: unknown): Promise<Served> {
    return this.#options.web.ask(this, path, input);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#globals.setTimeout(() => resolve(), ms));
  }

  observe(name: ShownName): void {
    if (this.#unobserve.has(name)) return;
    const { observer } = this;
    const wantsRemaining = this.random.chance(0.5);
    const onChange = () => {
      observer.status({ name }, 1);
      if (wantsRemaining) observer.remaining({ name });
    };
    this.#unobserve.set(
      name,
      observer.observe({ name }, 1, onChange, () => wantsRemaining),
    );
  }

  unobserve(name: ShownName): void {
    this.#unobserve.get(name)?.();
    this.#unobserve.delete(name);
  }

  /** Makes a predicted call, as `useRateLimitedMutation` does. */
  async call(name: ShownName, input: SendInput, whenLimited: WhenLimited): Promise<Called> {
    const { observer, shipped } = this;
    const { web, grants } = this.#options;
    const item: RateLimitItem = { name };
    let queue = this.#held.get(name);
    if (queue === undefined) {
      queue = shipped.createHeldCalls(observer, item, () => {});
      this.#closeHeld.push(queue.open());
      this.#held.set(name, queue);
    }
    const { count, fails } = input;
    let called: Called = { kind: "failed", retryAfter: 0 };
    const send = async () => {
      const start = web.timeline.now;
      const served = await web.ask(this, `send.${name}`, { count, fails });
      const error = "error" in served ? shipped.TRPCClientError.from(served as never) : undefined;
      if (error === undefined || (fails && isCharged(error))) {
        called = { kind: "granted", retryAfter: 0 };
        grants.push({
          name,
          key: `${name} of ${this.visitor}`,
          count,
          start,
          end: web.timeline.now,
        });
      }
      if (error !== undefined) throw error;
    };
    this.calling++;
    try {
      await shipped.sendLimited(send, {
        observer,
        item,
        queue,
        whenLimited,
        on: "call",
        count,
      });
    } catch (error) {
      const isExpected =
        shipped.isWaitCancelled(error) ||
        isRateLimitError(error) ||
        (error as Error).name === "TRPCClientError" ||
        (error as Error).message === "Failed to fetch";
      if (!isExpected) throw error;
      if (isRateLimitError(error)) {
        called = { kind: "denied", retryAfter: error.data.rateLimit.retryAfter };
      }
    } finally {
      this.calling--;
    }
    return called;
  }

  /** Uses the page as a visitor does. */
  async use(isOn: () => boolean): Promise<void> {
    const { random, observer } = this;
    for (const name of this.names) this.observe(name);
    while (isOn() && !this.isEnded) {
      const name = random.pick(this.names);
      const use: LimitUse = { name };
      const dice = random.next();
      if (dice < 0.6) {
        const mode = random.pick(["send", "reject", "wait"] as const);
        const input = { count: random.chance(0.8) ? 1 : 2, fails: random.chance(0.1) };
        const sent = this.call(name, input, mode);
        if (mode !== "wait") await sent;
        else void sent;
      } else if (dice < 0.7) observer.refresh(use);
      else if (dice < 0.75) observer.refresh();
      else if (dice < 0.8) this.unobserve(name);
      else this.observe(name);
      await this.sleep(random.below(600));
    }
  }

  /** Cancels the waiting calls, and observes all limits again. */
  calm(): void {
    for (const close of this.#closeHeld.splice(0)) close();
    this.#held.clear();
    for (const name of this.names) this.observe(name);
  }

  /** Leaves the page: closes the observer, or stops every observation. */
  end(byClose: boolean): void {
    this.isEnded = true;
    for (const close of this.#closeHeld.splice(0)) close();
    if (byClose) this.observer.close();
    else for (const name of this.#unobserve.keys()) this.unobserve(name);
  }
}

/** A procedure that has failed was charged before it ran. */
function isCharged({ data }: { data?: unknown }): boolean {
  return (data as { code?: unknown } | undefined)?.code === "INTERNAL_SERVER_ERROR";
}
