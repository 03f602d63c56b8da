/** The messages of this page that have no answer yet, when each of them goes, and what is typed. */
import { useMutationState } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { waitsInLine } from "trpc-rate-limit";
import { isWaitCancelled } from "trpc-rate-limit/react";
import { useRateLimitedMutation, useTRPC } from "../shared/page/trpc.js";
import { useConnection } from "../shared/page/use-connection.js";
import { createInTurn } from "./in-turn.js";
import { keep, readKept, type Unsent } from "./kept-texts.js";
import type { Message } from "./use-messages.js";

export interface Pending {
  nonce: string;
  text: string;
  /** `true`: the message waits for its turn. `false`: the message is on its way. */
  isHeld: boolean;
  /** When a held message goes, epoch ms. */
  sentAt: number | undefined;
}

export type Outbox = ReturnType<typeof useOutbox>;

/** How many answers are kept. The stream brings these messages, too. */
const KEPT = 10;

export function useOutbox() {
  const trpc = useTRPC();
  const [kept] = useState(readKept);
  const [text, setText] = useState(kept.typed);
  const [sent, setSent] = useState<readonly Message[]>([]);
  const [hasFailed, setHasFailed] = useState(false);
  const [inTurn] = useState(createInTurn);
  const giveBack = useGivenBack(setText);
  const options = trpc.chat.send.mutationOptions({
    onSuccess: (message) => setSent((before) => [...before, message].slice(-KEPT)),
    onError(error, { nonce, text: line }) {
      giveBack(nonce, line);
      if (isWaitCancelled(error)) return;
      setHasFailed(true);
      // The held messages come after the failed one, so cancel them.
      reset();
    },
  });
  // Limit: sends what the limit allows, holds the rest, and sends each message when its token is there.
  const { mutate, reset, canMutate, retryAt, held, limit } = useRateLimitedMutation("sendMessage", {
    ...options,
    mutationFn: (message, context) => inTurn.send(() => options.mutationFn!(message, context)),
    whenLimited: "wait",
  });
  const isLost = useConnection(limit) === "offline";
  useEffect(() => inTurn.setOffline(isLost), [inTurn, isLost]);
  const sending = useMutationState({
    filters: { mutationKey: trpc.chat.send.mutationKey(), status: "pending" },
    select: ({ state }) => state.variables as Unsent,
  });
  const isResumed = useResumed(kept.unsent, limit.status !== undefined, mutate);
  useEffect(() => {
    if (isResumed) keep({ typed: text, unsent: sending });
  }, [isResumed, text, sending]);

  const then = retryAt === undefined ? undefined : limit.check(retryAt, 0);
  const waits = then ? waitsInLine(then, Array<number>(held + 1).fill(1)) : [];
  /** When each held message goes, epoch ms. The last entry says when one more message would go. */
  const times = waits.map((wait) => retryAt! + wait);
  const pending = sending.map(({ nonce, text: line }, i): Pending => {
    const ahead = i - (sending.length - held);
    return { nonce, text: line, isHeld: ahead >= 0, sentAt: times[ahead] };
  });

  return {
    text,
    setText,
    /** The newest answers. */
    sent,
    pending,
    held,
    /** When the first of the held messages goes, epoch ms. */
    nextAt: times[0],
    limit,
    hasFailed,
    /** Whether the browser has no network. The stream of messages knows sooner if the server is back. */
    hasNoNetwork: isLost && limit.connection !== "offline",
    /** Whether one message would go at once. */
    canSend: canMutate,
    /** When one more message would go, epoch ms: after the messages that are held. */
    canSendAt: times[held],
    send(texts: readonly string[]) {
      setHasFailed(false);
      for (const line of texts) mutate({ text: line, nonce: newNonce() });
    },
    /** Cancels the messages that are held. */
    cancel: reset,
  };
}

/**
 * Sends the messages that were not sent before a reload, once the limit is known. A message that has no
 * token yet is then held, and keeps its place.
 *
 * @returns whether all of these messages were passed to `send`.
 */
function useResumed(
  unsent: readonly Unsent[],
  isKnown: boolean,
  send: (message: Unsent) => void,
): boolean {
  const [isResumed, setIsResumed] = useState(unsent.length === 0);
  const isStarted = useRef(false);
  const resume = useEffectEvent(() => {
    // In strict mode, an effect runs twice.
    if (isResumed || isStarted.current) return;
    isStarted.current = true;
    for (const { text, nonce } of unsent) {
      order.set(nonce, order.size);
      send({ text, nonce });
    }
    setIsResumed(true);
  });
  useEffect(() => {
    if (isKnown) resume();
  }, [isKnown]);
  return isResumed;
}

/** The order in which messages were sent, by their nonces. */
const order = new Map<string, number>();

function newNonce(): string {
  // `randomUUID` exists over HTTPS and on localhost only, and a phone comes by another address.
  const nonce = crypto.getRandomValues(new Uint32Array(4)).join("-");
  order.set(nonce, order.size);
  return nonce;
}

/**
 * Puts texts that were not sent back into the field: in their order, and before what was typed since.
 * Texts that fail together come back together.
 */
function useGivenBack(setText: (change: (typed: string) => string) => void) {
  const given = useRef<{ nonce: string; line: string }[]>([]);
  return (nonce: string, line: string) => {
    given.current.push({ nonce, line });
    if (given.current.length > 1) return;
    setTimeout(() => {
      const lines = given.current
        .sort((a, b) => order.get(a.nonce)! - order.get(b.nonce)!)
        .map((each) => each.line);
      given.current = [];
      setText((typed) => [...lines, typed].filter((each) => each !== "").join("\n"));
    });
  };
}
