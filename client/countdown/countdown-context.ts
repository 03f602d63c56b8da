/** What a provider tells the countdowns below it. Without a provider there is none of it. */
"use client";
import { createContext } from "react";

export interface CountdownContextValue {
  /** By `retryAt`: the seconds that the server has rendered the page with. */
  readonly seconds: ReadonlyMap<number, number>;
}

export const CountdownContext = createContext<CountdownContextValue | undefined>(undefined);
