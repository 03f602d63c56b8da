/** Imitates Neon's proxy: its protocol over HTTP, in front of a real PostgreSQL. */
import { createServer } from "node:http";
import { text as textOf } from "node:stream/consumers";
import type pg from "pg";
import { type Host, listen } from "../../support/serve-fetch.js";

/** Returns each value in PostgreSQL's own text format, which the client parses. */
const AS_TEXT = { getTypeParser: () => (value: string) => value };

/** @param onRequest is called with each request's header field `Authorization`. */
export function startNeonProxy(
  pool: pg.Pool,
  onRequest: (authorization: string | undefined) => void = () => {},
): Promise<Host> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    onRequest(request.headers.authorization);
    void (async () => {
      const { query, params } = JSON.parse(await textOf(request)) as {
        query: string;
        params: unknown[];
      };
      try {
        const { command, rowCount, fields, rows } = await pool.query({
          text: query,
          values: params,
          rowMode: "array",
          types: AS_TEXT as never,
        });
        answer(200, { command, rowCount, fields, rows, rowAsArray: true });
      } catch (error) {
        const { message, ...rest } = error as Error;
        answer(400, { message, ...rest });
      }
    })();
  });
  return listen(server, "/sql");
}
