/** The tRPC of an application: its file, its context, and who calls. */
import { Code } from "../code/code.js";
import { type Caller, callerOf } from "./caller.js";
import { type Context, contextOf } from "./context.js";
import { type Maker, makersOf, withValues } from "./makers.js";
import { sourceWith } from "./member.js";
import type { Project } from "./project.js";

export interface Trpc {
  /** The file that calls `initTRPC`. */
  file: string;
  context: Context;
  /** The functions that make a context with a type of its own. */
  makers: readonly Maker[];
  caller: Caller;
  /** The file in which the limits are wired already. Its author may have put them anywhere. */
  present: string | undefined;
}

const NO_CONTEXT: Context = {
  kind: "unknown",
  file: undefined,
  name: "createContext",
  fields: new Map(),
};

/** `undefined` for an application without tRPC. */
export function readTrpc(project: Project): Trpc | undefined {
  const { api, trpcFile: file } = project;
  if (file === undefined) return undefined;
  const code = Code.read(file, api.sources.get(file) ?? "");
  const found = code ? contextOf(project, code) : NO_CONTEXT;
  const makers = found.kind === "function" ? [] : makersOf(project, found);
  const context = withValues(found, makers);
  const present = sourceWith(api, /\bcreateRateLimitTRPC\(/);
  return { file, context, makers, caller: callerOf(project, context), present };
}
