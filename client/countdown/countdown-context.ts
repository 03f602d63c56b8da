/** What a provider tells the countdowns below it. Without a provider there is none of it. */
"use client";
import { createContext } from "react";
import type { CountdownWords } from "./words.js";

export interface CountdownContextValue extends CountdownWords {
  /** By `retryAt`: the seconds that the server has rendered the page with. */
  readonly seconds?: ReadonlyMap<number, number> | undefined;
}

export const CountdownContext = createContext<CountdownContextValue>({});
