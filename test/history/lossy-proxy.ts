/**
 * A way to a server that can lose answers: what was sent through it still arrives and is carried
 * out, but the connection breaks before anybody hears of it.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

export interface LossyProxy {
  /** The URL of the server, by way of the proxy. */
  url: string;
  /** Holds all answers back, for long enough to carry out what was asked, and hangs up. */
  cut(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<{ near: Socket; far: Socket }>();
  const server = createServer((near) => {
    const pair = { near, far: connect(Number(port), hostname) };
    pairs.add(pair);
    near.pipe(pair.far).pipe(near);
    for (const socket of [near, pair.far]) {
      socket.on("error", () => {});
      socket.on("close", () => {
        pairs.delete(pair);
        near.destroy();
        pair.far.destroy();
      });
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  const hangUp = (all: Iterable<{ near: Socket }>) => {
    for (const { near } of all) near.destroy();
  };
  return {
    url: url.href,
    async cut() {
      const cut = [...pairs];
      for (const { near, far } of cut) far.unpipe(near).resume();
      await setTimeout(50);
      hangUp(cut);
    },
    async [Symbol.asyncDispose]() {
      hangUp(pairs);
      server.close();
      await once(server, "close");
    },
  };
}
