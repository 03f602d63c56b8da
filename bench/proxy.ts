/**
 * A proxy that delays the answers of a server. The proxy runs as a process of its own. Arguments: the
 * server's host and port, and the delay, ms. Prints the port of the proxy.
 */
import { type AddressInfo, connect, createServer } from "node:net";

const [host = "", port = "", roundTrip = "0"] = process.argv.slice(2);

const server = createServer((near) => {
  const far = connect(Number(port), host);
  near.setNoDelay(true);
  far.setNoDelay(true);
  near.pipe(far);
  far.on("data", (chunk) => {
    setTimeout(() => {
      if (!near.destroyed) near.write(chunk);
    }, Number(roundTrip));
  });
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on("error", () => {});
    one.on("close", () => other.destroy());
  }
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
