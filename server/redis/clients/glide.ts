/**
 * Valkey GLIDE 2, `@valkey/valkey-glide`. GLIDE's core rewrites the errors of the server; here the errors
 * get their codes back.
 */
import type { RedisNode, RedisPort } from "../redis-port.js";
import { untilServed } from "./redirection.js";
import { hasMethods } from "./shape.js";
import { type Connection, waitOn } from "./wait-chain.js";

/** A `GlideClient` or a `GlideClusterClient`. */
export interface GlideLike {
  customCommand(args: never, options?: never): unknown;
}

type Route =
  | { type: "primarySlotKey"; key: string }
  | { type: "primarySlotId"; id: number }
  | { type: "routeByAddress"; host: string; port: number };

interface Client {
  customCommand(
    args: readonly string[],
    options: { decoder: number; route?: Route },
  ): Promise<unknown>;
}

/** The value of GLIDE's `Decoder.String`. */
const TEXT = 1;

/** GLIDE's names of the server's errors, where the name is not the code in lower case. */
const CODES: Readonly<Record<string, string>> = {
  responseerror: "ERR",
  busyloading: "LOADING",
  crossslot: "CROSSSLOT",
};

export function isGlide(client: object): client is GlideLike {
  return hasMethods(client, "customCommand");
}

export function glidePort(like: GlideLike): RedisPort {
  const client = like as unknown as Client;
  // Only the client of a cluster has routes.
  const isCluster = hasMethods(like, "fcallWithRoute");
  const sendTo = (route: Route | undefined): RedisNode["send"] => {
    return (args) => customCommand(client, args, route);
  };
  const send: RedisNode["send"] = (args, routingKey) =>
    isCluster
      ? untilServed(() => customCommand(client, args, routeOf(routingKey)))
      : customCommand(client, args);
  const nodes = async (): Promise<RedisNode[]> => {
    const slots = (await send(["CLUSTER", "SLOTS"], undefined)) as [
      number,
      number,
      [string, number],
    ][];
    const masters = new Map(slots.map(([, , [host, port]]) => [`${host}:${port}`, { host, port }]));
    return [...masters.values()].map((address) => ({
      send: sendTo({ type: "routeByAddress", ...address }),
    }));
  };
  return {
    keyPrefix: "",
    resends: false,
    isCluster,
    send,
    // All commands for a server share one connection, and keep their order.
    sendAndWait: (args, key, wait) =>
      waitOn(connectionTo(client, isCluster ? routeOf(key) : undefined))(args, key, wait),
    masters: () => (isCluster ? nodes() : Promise.resolve([{ send }])),
  };
}

function connectionTo(client: Client, route: Route | undefined): Connection {
  return {
    chain: (commands) =>
      Promise.all(
        commands.map((args) =>
          customCommand(client, args, route).catch((error: unknown) =>
            error instanceof Error ? error : new Error(String(error)),
          ),
        ),
      ),
  };
}

function routeOf(key: string | undefined): Route {
  if (key !== undefined) return { type: "primarySlotKey", key };
  // "randomNode" may be a replica.
  return { type: "primarySlotId", id: Math.floor(Math.random() * 16_384) };
}

async function customCommand(
  client: Client,
  args: readonly string[],
  route?: Route,
): Promise<unknown> {
  try {
    const decoder = TEXT;
    return await client.customCommand(args, route === undefined ? { decoder } : { decoder, route });
  } catch (error) {
    throw withCode(error);
  }
}

/** Turns `An error was signalled by the server: - NoScriptError: No matching script` into `NOSCRIPT No …`. */
function withCode(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const match = /^(?:An error was signalled by the server: - )?(\w+): (.*)$/s.exec(error.message);
  if (match === null) return error;
  const name = match[1]!.toLowerCase();
  const code = CODES[name] ?? CODES[name.replace(/error$/, "")] ?? name.replace(/error$/, "");
  return new Error(`${code.toUpperCase()} ${match[2]}`, { cause: error });
}
