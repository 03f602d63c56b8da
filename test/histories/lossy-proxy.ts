/**
 * A proxy that can lose the answers of a server. The server still receives and executes the requests,
 * but the connection closes before the client receives the answer.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

export interface LossyProxy {
  /** The URL of the server through the proxy. */
  url: string;
  /** Discards all answers for long enough to execute pending requests, and then disconnects. */
  cut(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<{ client: Socket; upstream: Socket }>();
  const server = createServer((client) => {
    const pair = { client, upstream: connect(Number(port), hostname) };
    pairs.add(pair);
    client.pipe(pair.upstream).pipe(client);
    for (const socket of [client, pair.upstream]) {
      socket.on("error", () => {});
      socket.on("close", () => {
        pairs.delete(pair);
        client.destroy();
        pair.upstream.destroy();
      });
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  const disconnect = (all: Iterable<{ client: Socket }>) => {
    for (const { client } of all) client.destroy();
  };
  return {
    url: url.href,
    async cut() {
      const current = [...pairs];
      for (const { client, upstream } of current) upstream.unpipe(client).resume();
      await setTimeout(50);
      disconnect(current);
    },
    async [Symbol.asyncDispose]() {
      disconnect(pairs);
      server.close();
      await once(server, "close");
    },
  };
}
