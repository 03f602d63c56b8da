/** Ports for servers that must be told their port before they start. */
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * The range is below the ports that systems give to outgoing connections (from 32768 on Linux).
 * Otherwise, one of the tests' many connections could take a port between the check and the start of the
 * server.
 */
const [FIRST, COUNT] = [10_000, 22_000];

/** Starts at a random port, so that processes that search at the same time seldom find the same port. */
let next = Math.floor(Math.random() * COUNT);

/** A port on which nothing listens. No other call in this process returns it soon. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + (next++ % COUNT);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port);
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
