/** Keeps the outbox while another part is shown, so that held messages still go in their turn. */
import { createContext, type ReactNode, useContext } from "react";
import { type Outbox, useOutbox } from "./use-outbox.js";

const OutboxContext = createContext<Outbox | undefined>(undefined);

/** Stands above the parts. */
export function KeptOutbox({ children }: { children: ReactNode }) {
  const outbox = useOutbox();
  return <OutboxContext.Provider value={outbox}>{children}</OutboxContext.Provider>;
}

/** @returns `undefined` without a `KeptOutbox` above. */
export function useKeptOutbox(): Outbox | undefined {
  return useContext(OutboxContext);
}
