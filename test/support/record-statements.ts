/** A copy of a Prisma client that adds the text of each raw statement to a set. */
import type { PrismaLike } from "../../server/index.js";
import type { Client } from "./clients.js";

type Run = (text: string, ...params: unknown[]) => Promise<unknown>;
type Transact = (run: (tx: object) => unknown, options?: object) => Promise<unknown>;

const RAW = new Set<string | symbol>(["$queryRawUnsafe", "$executeRawUnsafe"]);

export function recordStatements(client: Client, texts: Set<string>): PrismaLike {
  return recording(client, texts) as PrismaLike;
}

function recording(client: object, texts: Set<string>): object {
  return new Proxy(client, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (RAW.has(property)) {
        return (text: string, ...params: unknown[]) => {
          texts.add(text);
          return (value as Run).call(target, text, ...params);
        };
      }
      if (property !== "$transaction") return value;
      return (run: (tx: object) => unknown, options?: object) =>
        (value as Transact).call(target, (tx) => run(recording(tx, texts)), options);
    },
  });
}
