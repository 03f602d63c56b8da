/**
 * Prepared statements through Prisma's adapter for PostgreSQL. The adapter names a statement only if
 * its option `statementNameGenerator` (Prisma 7.6) says so. PostgreSQL plans a statement without a name
 * at every call: with a name, a lone limit makes three times as many calls.
 *
 * The store gives the adapter of the application such an option, which names the statements of this
 * package and no others. A client that is connected already keeps its old options until it connects
 * again.
 */
import { isUnprepared } from "../../sql/postgresql/errors.js";
import type { SqlConnection } from "../../sql/driver.js";
import { PreparedTexts } from "../prepared-texts.js";
import { statementName } from "../pg/statement-names.js";
import type { ClientInternals } from "./prisma-client.js";

type NameGenerator = (query: { sql: string }) => string | undefined;

interface NamingOptions {
  statementNameGenerator?: NameGenerator & { [OURS]?: true };
}

/** Known to every copy of this module, such as the copies of a hot reload. */
const OURS = Symbol.for("trpc-rate-limit.statementNameGenerator");
/**
 * Stands at the end of the statements that are named. In a transaction of the application, no statement
 * is named: a prepared statement that cannot be run would end the transaction.
 */
const NAMED = " --named";

const nameOurs: NameGenerator = ({ sql }) => (sql.endsWith(NAMED) ? statementName(sql) : undefined);
Object.defineProperty(nameOurs, OURS, { value: true });

/** Whether the adapter of a client names our statements from now on. */
export function letAdapterName(prisma: object): boolean {
  const { _engineConfig: config } = prisma as ClientInternals;
  const adapter = config?.adapter;
  if (adapter?.adapterName !== "@prisma/adapter-pg") return false;
  const options = adapter.options as NamingOptions | undefined;
  const own = options?.statementNameGenerator;
  if (own?.[OURS]) return true;
  // Keep the application's own generator. That generator may name no statement, because of a pooler.
  if (own !== undefined || !Object.isExtensible(adapter)) return false;
  (adapter as { options?: NamingOptions }).options = {
    ...options,
    statementNameGenerator: nameOurs,
  };
  return true;
}

/** Sends statements with names. A statement that a connection has lost is sent again without a name. */
export function sendingNamed(connection: SqlConnection): SqlConnection {
  const texts = new PreparedTexts();
  const named = async <TResult>(
    send: (text: string) => Promise<TResult>,
    text: string,
  ): Promise<TResult> => {
    const { version } = texts;
    const prepared = texts.of(text);
    if (prepared === undefined) return send(text);
    try {
      return await send(prepared + NAMED);
    } catch (error) {
      if (!isUnprepared(error)) throw error;
      const result = await send(text);
      texts.renew(version);
      return result;
    }
  };
  return {
    query: (text, params, ...more) =>
      named((sent) => connection.query(sent, params, ...more), text),
    execute: (text, params, ...more) =>
      named((sent) => connection.execute(sent, params, ...more), text),
  };
}
