/**
 * Asks the other processes for the keys with the most, through the channel of the limiter, and answers when
 * another process asks. Nothing is sent while no operator asks. A process listens while it decides calls,
 * and for a minute or two afterwards, because a listener keeps a connection open.
 */
import { newSender } from "../../changes/change-payloads.js";
import type { ChangeChannel } from "../../changes/change-channel.js";
import { ListenWhileUsed } from "../../changes/listen-while-used.js";
import type { Operator } from "../../limiter/parts/operator.js";
import { addCounts, countsOf, noKeyCounts, type TopCounts } from "./key-history.js";
import type { DecisionRecorder } from "./recorder.js";
import {
  askMessage,
  MOST_PARTS,
  readMessage,
  tellMessages,
  type TopAsk,
  type TopTell,
} from "./top-messages.js";
import { topOfProcess, type TopOfProcesses, type TopQuestion } from "./top-of-processes.js";

/** How long a question waits for answers, ms. */
const WAIT = 500;
/** The most questions of this process that wait at a time. Further ones are answered by this process. */
const MOST_QUESTIONS = 8;
/** The most processes whose answers to one question count. */
export const MOST_PROCESSES = 64;
/** The most questions that this process answers in a second. */
export const MOST_ANSWERS = 10;

/** A channel that carries messages. */
type MessageChannel = ChangeChannel & Required<Pick<ChangeChannel, "send" | "receive">>;

const exchanges = new WeakMap<DecisionRecorder, TopExchange>();

/** The one exchange of a recorder; without a channel that carries messages, this process alone. */
export function topOfProcesses(
  recorder: DecisionRecorder,
  operator: Pick<Operator, "toStoredKey" | "clock" | "sleep" | "channel">,
  names: readonly string[],
): TopOfProcesses {
  const { channel } = operator;
  if (channel?.send === undefined || channel.receive === undefined) {
    return {
      async top(of, question) {
        const byName = topOfProcess(recorder, operator, of, question);
        return { source: "process", since: recorder.keysSince, byName };
      },
    };
  }
  let exchange = exchanges.get(recorder);
  if (exchange === undefined) {
    exchange = new TopExchange(channel as MessageChannel, recorder, operator, names);
    exchanges.set(recorder, exchange);
  }
  return exchange;
}

interface Open {
  readonly names: ReadonlySet<string>;
  /** The parts by the process that has sent them. */
  readonly parts: Map<string, TopTell[]>;
}

export class TopExchange implements TopOfProcesses {
  readonly #who = newSender().slice(0, 12);
  readonly #open = new Map<string, Open>();
  readonly #listening: ListenWhileUsed;
  #second = 0;
  #answered = 0;

  constructor(
    private readonly channel: MessageChannel,
    private readonly recorder: DecisionRecorder,
    private readonly operator: Pick<Operator, "toStoredKey" | "clock" | "sleep">,
    private readonly names: readonly string[],
  ) {
    this.#listening = new ListenWhileUsed({
      channel: { subscribe: () => channel.receive((message) => this.#receive(message)) },
      heard() {},
      ended() {},
    });
    recorder.heard = () => this.#listen();
  }

  async top(names: readonly string[], question: TopQuestion) {
    const { recorder, operator } = this;
    const own = topOfProcess(recorder, operator, names, question);
    const open: Open = { names: new Set(names), parts: new Map() };
    const isAsked = this.#open.size < MOST_QUESTIONS;
    if (isAsked) await this.#ask(question, open);
    let since = recorder.keysSince;
    for (const part of [...open.parts.values()].flat()) {
      since = Math.max(since, Math.min(part.since, operator.clock()));
      addPart(own, part, open.names);
    }
    return { source: isAsked ? ("processes" as const) : ("process" as const), since, byName: own };
  }

  async #ask(question: TopQuestion, open: Open): Promise<void> {
    const id = newSender().slice(0, 12);
    this.#open.set(id, open);
    try {
      this.#listen();
      this.channel.send(askMessage(question, { id, names: [...open.names] }));
      await this.operator.sleep(WAIT);
    } finally {
      this.#open.delete(id);
    }
  }

  #listen(): void {
    this.#listening.used();
    this.#listening.listen();
  }

  #receive(received: unknown): void {
    // Changes come through the channel, too, but no other messages.
    const message = readMessage(received);
    if (message?.top === "ask") this.#answer(message);
    if (message?.top === "tell") this.#collect(message);
  }

  #answer({ id, names, ...question }: TopAsk): void {
    const second = Math.floor(this.operator.clock() / 1000);
    if (second !== this.#second) this.#answered = 0;
    this.#second = second;
    if (this.#answered >= MOST_ANSWERS) return;
    this.#answered++;
    const found = topOfProcess(this.recorder, this.operator, names ?? this.names, question);
    const since = Math.floor(this.recorder.keysSince);
    const of = { id, who: this.#who, since };
    for (const part of tellMessages(of, question.by, found)) this.channel.send(part);
  }

  #collect(part: TopTell): void {
    const open = this.#open.get(part.id);
    if (open === undefined || part.who === this.#who) return;
    const parts = open.parts.get(part.who);
    if (parts === undefined) {
      if (open.parts.size < MOST_PROCESSES) open.parts.set(part.who, [part]);
    } else if (parts.length < MOST_PARTS) parts.push(part);
  }
}

function addPart(
  byName: Map<string, TopCounts>,
  { limits }: TopTell,
  names: ReadonlySet<string>,
): void {
  for (const [name, granted, denied, taken, keys] of limits) {
    // Only limits that were asked for: the operator may not view others.
    if (!names.has(name)) continue;
    let found = byName.get(name);
    if (found === undefined) byName.set(name, (found = { total: noKeyCounts(), keys: new Map() }));
    addCounts(found.total, { granted, denied, taken });
    for (const [key, ...of] of keys) {
      addCounts(countsOf(found, key), { granted: of[0], denied: of[1], taken: of[2] });
    }
  }
}
