/**
 * Sends a command and then WAIT, on one connection of the master that carries the command out. The
 * clients of clusters send each command by itself: after a redirection, WAIT would ask another master,
 * which has nothing to wait for and answers at once.
 */
import type { SendAndWait } from "../redis-port.js";
import { MAX_TRIES, pause, redirectionOf } from "./redirection.js";

type Commands = readonly (readonly string[])[];

/** A connection to one server. */
export interface Connection {
  /**
   * Sends commands one behind the other. If the connection is lost, no single command is sent on another
   * connection. Resolves with the reply or the error of each command.
   */
  chain(commands: Commands): Promise<readonly unknown[]>;
}

/** Where the connections of a cluster are found. */
export interface Topology {
  /** The master of the key's slot, as the client knows it. */
  connectionFor(key: string): Promise<Connection | undefined>;
  /** The server at `host:port`. */
  connectionAt(address: string): Promise<Connection | undefined>;
  /** Makes the client ask for the slots anew. */
  refresh(key: string): Promise<unknown>;
}

/** For a single server. */
export function waitOn(connection: Connection): SendAndWait {
  return async (args, _, wait) => {
    const [reply, acknowledged] = await connection.chain([args, waitCommand(wait)]);
    return answer(reply, acknowledged);
  };
}

export function waitInCluster(topology: Topology): SendAndWait {
  return async (args, key, wait) => {
    const refresh = () => topology.refresh(key);
    let connection = await topology.connectionFor(key);
    let isAsked = false;
    for (let tries = 1; ; tries++) {
      if (connection === undefined) {
        await refresh();
        connection = await topology.connectionFor(key);
        if (connection === undefined) throw new Error("the client knows no master of this slot");
      }
      const prefix: Commands = isAsked ? [["ASKING"]] : [];
      const sent = connection.chain([...prefix, args, waitCommand(wait)]);
      const [reply, acknowledged] = (await sent).slice(prefix.length);
      const next = redirectionOf(reply);
      if (next === undefined || tries > MAX_TRIES) {
        // The master may be gone. The client notices a lost master only by the client's own commands.
        if (reply instanceof Error) refresh().catch(() => {});
        return answer(reply, acknowledged);
      }
      if (next.code === "LATER") await pause();
      isAsked = next.code === "ASK";
      if (!isAsked) await refresh();
      connection =
        next.address === undefined
          ? await topology.connectionFor(key)
          : await topology.connectionAt(next.address);
    }
  };
}

function waitCommand({ replicas, timeout }: { replicas: number; timeout: number }): string[] {
  return ["WAIT", String(replicas), String(timeout)];
}

function answer(reply: unknown, acknowledged: unknown): { reply: unknown; acknowledged: number } {
  if (reply instanceof Error) throw reply;
  // The command was carried out. It is not known whether a replica has the write.
  return { reply, acknowledged: acknowledged instanceof Error ? 0 : Number(acknowledged) };
}
