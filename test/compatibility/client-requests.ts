/**
 * The requests of a client of today, and whether the inputs of a server accept them. A server of this
 * package refuses unknown fields, so a client must not send new fields to it.
 */
import { createTRPCClient, type TRPCLink } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { observable } from "@trpc/server/observable";
import { z } from "zod/v4";
import { createRateLimitObserver, createTRPCTransport } from "../../client/index.js";
import { createRateLimitSchemas } from "../../server/trpc/schemas.js";

export interface ClientRequest {
  path: string;
  input: unknown;
}

/** The inputs that a server accepts, as JSON Schema. */
export interface InputSchema {
  type?: string;
  properties?: Record<string, InputSchema>;
  required?: string[];
  additionalProperties?: boolean;
  items?: InputSchema;
  maxItems?: number;
  enum?: string[];
}

/** Every kind of request that an observer makes, for a visitor's own limit and for a requested key. */
export async function requestsOfClient(): Promise<ClientRequest[]> {
  const requests: ClientRequest[] = [];
  const capture: TRPCLink<AnyTRPCRouter> =
    () =>
    ({ op: { path, input } }) =>
      observable(() => {
        requests.push({ path, input });
        return () => {};
      });
  const client = createTRPCClient<AnyTRPCRouter>({ links: [capture] });
  const transport = createTRPCTransport(client, "rateLimit");
  const observer = createRateLimitObserver({ transport });
  observer.observe({ name: "send" as never }, 2, () => {});
  observer.observe({ name: "send" as never, key: "a requested key" }, 1, () => {});
  // Opens its stream in a microtask, and asks for what is followed.
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  observer.close();
  return JSON.parse(JSON.stringify(requests)) as ClientRequest[];
}

/** What a server of today accepts, by the path of the procedure. */
export function acceptedInputs(): Record<string, InputSchema> {
  const { query, limit, reset, watch } = createRateLimitSchemas(["send"]);
  const schemas = { status: query, check: query, limit, reset, watch };
  const entries = Object.entries(schemas).map(([path, schema]) => {
    const { $schema: _, ...accepted } = z.toJSONSchema(schema, { io: "input" });
    return [`rateLimit.${path}`, accepted];
  });
  return JSON.parse(JSON.stringify(Object.fromEntries(entries))) as Record<string, InputSchema>;
}

/** Why a server with this schema would refuse the input. */
export function refusalsOf(
  input: unknown,
  schema: InputSchema | undefined,
  path: string,
): string[] {
  if (schema === undefined) return [`${path} is unknown`];
  const { type, properties = {}, required = [], items, maxItems = Infinity } = schema;
  if (type === "array") {
    if (!Array.isArray(input) || input.length > maxItems) return [`${path} is not such a list`];
    return input.flatMap((item, i) => refusalsOf(item, items, `${path}[${i}]`));
  }
  if (type === "object") {
    const fields = Object(input) as Record<string, unknown>;
    const missing = required.filter((name) => !Object.hasOwn(fields, name));
    return [
      ...missing.map((name) => `${path}.${name} is missing`),
      ...Object.entries(fields).flatMap(([name, value]) =>
        refusalsOf(value, properties[name], `${path}.${name}`),
      ),
    ];
  }
  return typeof input === type ? [] : [`${path} is ${typeof input}, and must be ${type}`];
}

/** What a server of the old schema accepted, and one of today's refuses. */
export function narrowings(
  old: InputSchema,
  today: InputSchema | undefined,
  path: string,
): string[] {
  if (today === undefined) return [`${path} is gone`];
  if (today.type !== old.type) return [`${path} was ${old.type}, and is ${today.type}`];
  const demanded = (today.required ?? []).filter((name) => !old.required?.includes(name));
  const { maxItems: most = Infinity } = today;
  return [
    ...demanded.map((name) => `${path}.${name} was optional`),
    ...((old.maxItems ?? Infinity) > most ? [`${path} had more items`] : []),
    ...Object.entries(old.properties ?? {}).flatMap(([name, property]) =>
      narrowings(property, today.properties?.[name], `${path}.${name}`),
    ),
    ...(old.items ? narrowings(old.items, today.items, `${path}[]`) : []),
  ];
}
