/** Imitates Neon's other proxy: it passes the bytes of a WebSocket on to a real PostgreSQL. */
import { createServer } from "node:http";
import { connect } from "node:net";
import { type Host, listen } from "../../support/serve-fetch.js";

/** The parts of `ws` that are used here. Neither `ws` nor its types need be installed. */
interface Socket {
  on(event: "message", listener: (data: Uint8Array) => void): void;
  on(event: "close", listener: () => void): void;
  send(data: Uint8Array): void;
  close(): void;
}

export interface WebSocketModule {
  WebSocket: new (url: string) => Socket;
  WebSocketServer: new (options: object) => {
    on(event: "connection", listener: (socket: Socket) => void): void;
  };
}

export async function startWebSocketProxy(
  { WebSocketServer }: WebSocketModule,
  database: string,
): Promise<Host> {
  const { hostname, port } = new URL(database);
  const server = createServer();
  new WebSocketServer({ server }).on("connection", (socket) => {
    const tcp = connect(Number(port || 5432), hostname);
    socket.on("message", (data) => tcp.write(data));
    socket.on("close", () => tcp.destroy());
    tcp.on("data", (data) => socket.send(data));
    tcp.on("close", () => socket.close());
    tcp.on("error", () => {});
  });
  return listen(server);
}
