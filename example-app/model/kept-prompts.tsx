/** Keeps the prompts while another part is shown, so that those in the queue still get their turn. */
import { createContext, type ReactNode, useContext } from "react";
import { type Prompts, usePrompts } from "./use-prompts.js";

const PromptsContext = createContext<Prompts | undefined>(undefined);

/** Stands above the parts. */
export function KeptPrompts({ children }: { children: ReactNode }) {
  const prompts = usePrompts();
  return <PromptsContext.Provider value={prompts}>{children}</PromptsContext.Provider>;
}

/** @returns `undefined` without a `KeptPrompts` above. */
export function useKeptPrompts(): Prompts | undefined {
  return useContext(PromptsContext);
}
