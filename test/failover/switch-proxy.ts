/**
 * A proxy that stands for HAProxy or a name in DNS: clients have one address, and the server behind it
 * changes.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface SwitchProxy {
  /** The URL of the server, through the proxy. */
  url: string;
  /** Sends connections that are opened later to another server. */
  switchTo(server: string): void;
  /** Closes all connections, as HAProxy does with `on-marked-down shutdown-sessions`. */
  closeSessions(): void;
  /** Closes all connections, and accepts no others. */
  cut(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startSwitchProxy(server: string): Promise<SwitchProxy> {
  let target = new URL(server);
  let isCut = false;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    client.setNoDelay().pipe(upstream.setNoDelay()).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const url = new URL(server);
  url.port = String((proxy.address() as AddressInfo).port);
  const closeSessions = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.href,
    switchTo: (other) => void (target = new URL(other)),
    closeSessions,
    cut() {
      isCut = true;
      closeSessions();
    },
    async [Symbol.asyncDispose]() {
      closeSessions();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
