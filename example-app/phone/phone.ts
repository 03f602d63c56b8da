/**
 * "Now with your phone": an address that opens the demo on another device as the same visitor. The page
 * shows the address of its own visitor. The terminal shows one for the visitor who has opened the page on
 * this machine last.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { PrismaClient } from "../shared/generated/prisma/client.js";
import { saveSetting } from "../shared/server/settings.js";
import { localAddress } from "./local-address.js";
import { readToken, tokenOf } from "./tokens.js";

export type Phone = ReturnType<typeof createPhone>;

const PATH = "/phone/";
/** The row that names the visitor of this machine. All processes and later starts read it. */
const NAME = "visitor of this machine";

const EARLIER = "This code is of an earlier start of the demo. Scan the code that it shows now.";
const UNKNOWN = "Open the demo on the computer first, and then scan the code again.";

/**
 * @param key signs the tokens.
 * @param port asked for each address, since a server may choose its port when it listens.
 */
export function createPhone(prisma: PrismaClient, key: string, port: () => number) {
  let last: string | undefined;

  return {
    /** Where a phone opens the demo as this visitor. `undefined`: this machine is in no local network. */
    addressOf: (visitor: string): string | undefined => phoneAddress(key, port(), visitor),

    /** Remembers who has opened the page, if the request comes from this machine. */
    see({ socket, headers }: IncomingMessage, visitor: string): void {
      const isHere = /^(?:::1|(?:::ffff:)?127\.)/.test(socket.remoteAddress ?? "");
      // A site elsewhere may lead its own name to this machine.
      const isNamed = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/.test(headers.host ?? "");
      if (!isHere || !isNamed || visitor === last) return;
      last = visitor;
      saveSetting(prisma, NAME, visitor, { value: visitor }).catch(() => (last = undefined));
    },

    /**
     * Answers a request that brings a token: with the visitor's cookie, and with the page, whose address
     * has no token.
     *
     * @param setCookie makes the device that visitor.
     * @returns whether the request was one of these.
     */
    answer(
      { url = "", method }: IncomingMessage,
      res: ServerResponse,
      setCookie: (visitor: string) => void,
    ): boolean {
      if (!url.startsWith(PATH) || method !== "GET") return false;
      void visitorOf(url.slice(PATH.length)).then((visitor) => {
        // No cache and no other site learns the token.
        res.setHeader("Cache-Control", "no-store");
        res.setHeader("Referrer-Policy", "no-referrer");
        if (typeof visitor === "object") return refuse(res, visitor.problem);
        setCookie(visitor);
        res.writeHead(303, { Location: "/" }).end();
      });
      return true;
    },
  };

  async function visitorOf(token: string): Promise<string | { problem: string }> {
    const known = readToken(key, token);
    if (!known) return { problem: EARLIER };
    if (known.visitor !== undefined) return known.visitor;
    const row = await prisma.setting.findUnique({ where: { name: NAME } }).catch(() => null);
    return row?.value ?? { problem: UNKNOWN };
  }
}

/** @param visitor @default the visitor who has opened the page on this machine last */
export function phoneAddress(key: string, port: number, visitor?: string): string | undefined {
  const host = localAddress();
  return host && `http://${host}:${port}${PATH}${tokenOf(key, visitor)}`;
}

function refuse(res: ServerResponse, problem: string): void {
  res.writeHead(404, { "Content-Type": "text/html; charset=utf-8" });
  res.end(
    `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>trpc-rate-limit</title><p>${problem}</p></html>`,
  );
}
