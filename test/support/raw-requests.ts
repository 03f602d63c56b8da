/** Requests that `fetch` does not send: bytes on a connection. */
import { connect, type Socket } from "node:net";

/** Sends text, and resolves with what arrives until the connection ends. */
export async function sendRaw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.setEncoding("latin1").on("data", (data: string) => (answer += data));
  socket.write(text, "latin1");
  await new Promise((resolve) => socket.once("close", resolve).once("error", () => {}));
  return answer;
}

/** Sends a request with this first line, and resolves with the status of the answer. */
export async function statusOf(url: string, line: string, ...fields: string[]): Promise<number> {
  const head = [line, "Host: test", "Connection: close", ...fields].join("\r\n");
  const answer = await sendRaw(url, `${head}\r\n\r\n`);
  return Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1]);
}

/** A connection on which nothing is read. */
export function deafSocket(url: string, text: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {}).pause();
  socket.write(text);
  return socket;
}
