/**
 * A proxy whose connections can die silently, as in a failover: they stay open, and carry nothing any
 * more. Connections that are opened later work.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface SilentProxy {
  /** The URL of the server through the proxy. */
  url: string;
  silence(): void;
  /** As `silence`. In addition, neither side hears when the other side closes its end. */
  cut(): void;
  /** As `silence`. In addition, connections that are opened later carry nothing. */
  silenceAll(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startSilentProxy(target: string): Promise<SilentProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  /** Sockets whose other end is cut off. */
  const unheard = new Set<Socket>();
  let isSilent = false;
  const server = createServer((client) => {
    if (isSilent) {
      unheard.add(client.on("error", () => {}));
      return;
    }
    const upstream = connect(Number(port), hostname);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    client.pipe(upstream).pipe(client);
    for (const socket of pair) {
      socket.on("error", () => {});
      socket.on("close", () => {
        if (pairs.delete(pair)) for (const each of pair) each.destroy();
      });
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  const silence = () => {
    for (const [client, upstream] of pairs) {
      client.unpipe(upstream).pause();
      upstream.unpipe(client).pause();
    }
  };
  return {
    url: url.href,
    silence,
    cut() {
      silence();
      for (const pair of pairs) for (const socket of pair) unheard.add(socket);
      pairs.clear();
    },
    silenceAll() {
      isSilent = true;
      silence();
    },
    async [Symbol.asyncDispose]() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      for (const socket of unheard) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
