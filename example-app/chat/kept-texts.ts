/**
 * Keeps texts that are not sent yet over a reload of the tab. By its nonce, the server stores a message
 * once.
 */
import { KEPT_AS } from "../shared/page/seat.js";

export interface Unsent {
  text: string;
  nonce: string;
}

export interface KeptTexts {
  typed: string;
  unsent: readonly Unsent[];
}

const NAME = `chat-outbox${KEPT_AS}`;
const NOTHING: KeptTexts = { typed: "", unsent: [] };

export function readKept(): KeptTexts {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(NAME) ?? "null");
    return isKept(kept) ? kept : NOTHING;
  } catch {
    // A browser may forbid storage, and a visitor may write into it.
    return NOTHING;
  }
}

function isKept(value: unknown): value is KeptTexts {
  const { typed, unsent } = Object(value) as Partial<Record<keyof KeptTexts, unknown>>;
  return typeof typed === "string" && Array.isArray(unsent) && unsent.every(isUnsent);
}

function isUnsent(value: unknown): value is Unsent {
  const { text, nonce } = Object(value) as Partial<Record<keyof Unsent, unknown>>;
  return typeof text === "string" && typeof nonce === "string";
}

export function keep(texts: KeptTexts): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(texts));
  } catch {
    // Without storage, a reload loses the texts.
  }
}
