/**
 * A proxy in front of one server. The proxy can lose answers, and can cut off the clients of some
 * addresses silently, as a network does.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface FaultProxy {
  readonly port: number;
  /** From now on, answers on the present connections are lost. The server still gets their requests. */
  loseAnswers(): void;
  /** Closes all connections. Later connections work. */
  disconnect(): void;
  /** Connections from these addresses carry nothing any more, and new connections get no answer. */
  cutOff(isCutOff: (address: string) => boolean): void;
  /** Ends the cut. The cut connections are closed, as a network would close them after a while. */
  heal(): void;
  close(): Promise<void>;
}

interface Pair {
  client: Socket;
  upstream: Socket;
  address: string;
}

/**
 * @param target the server's port, asked for at each connection, because the proxy may start before the
 *   server.
 */
export async function startFaultProxy(target: () => number): Promise<FaultProxy> {
  const pairs = new Set<Pair>();
  let isCutOff: (address: string) => boolean = () => false;
  const server = createServer((client) => {
    const address = client.remoteAddress ?? "";
    const upstream = connect(target(), "127.0.0.1");
    const pair = { client, upstream, address };
    pairs.add(pair);
    for (const socket of [client, upstream]) {
      socket.setNoDelay();
      socket.on("error", () => {});
      socket.on("close", () => {
        pairs.delete(pair);
        client.destroy();
        upstream.destroy();
      });
    }
    if (!isCutOff(address)) client.pipe(upstream).pipe(client);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const close = (some: Iterable<Pair>) => {
    for (const { client } of some) client.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    loseAnswers() {
      for (const { client, upstream } of pairs) upstream.unpipe(client).resume();
    },
    disconnect: () => close([...pairs]),
    cutOff(chosen) {
      isCutOff = chosen;
      for (const { client, upstream, address } of pairs) {
        if (!chosen(address)) continue;
        client.unpipe(upstream).pause();
        upstream.unpipe(client).pause();
      }
    },
    heal() {
      const wasCutOff = isCutOff;
      isCutOff = () => false;
      close([...pairs].filter(({ address }) => wasCutOff(address)));
    },
    async close() {
      close([...pairs]);
      server.close();
      await once(server, "close");
    },
  };
}
