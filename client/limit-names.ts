/** Reads an application's router type: the paths of its procedures, and the names of its limits. */
import type { AnyTRPCProcedure, AnyTRPCRouter } from "@trpc/server";

/** The dotted paths of all procedures; any string where the router's type is unknown. */
export type ProcedurePath<TRouter extends AnyTRPCRouter> = OrString<PathsIn<RecordOf<TRouter>>>;

/** The names of the limits of every router of `createRateLimitTRPC` in `TRouter`. */
export type RouterLimitName<TRouter extends AnyTRPCRouter> = OrString<NamesIn<RecordOf<TRouter>>>;

/**
 * The names of the limits of the rate limit router that stands at `TPath` in `TRouter`; none where
 * there is no such router.
 */
export type LimitNames<TRouter extends AnyTRPCRouter, TPath extends string> = NamesAt<
  RecordOf<TRouter>,
  TPath
>;

/**
 * Any router that has a rate limit router at `TPath`. Any other router does not compile, and the text
 * says why.
 */
export type RouterWithLimits<TRouter extends AnyTRPCRouter, TPath extends string> = [
  LimitNames<TRouter, TPath>,
] extends [never]
  ? `no rate limit router at path "${TPath}"`
  : unknown;

type RecordOf<TRouter extends AnyTRPCRouter> = TRouter["_def"]["record"];

type OrString<TNames> = [TNames] extends [never] ? string : TNames & string;

type PathsIn<TRecord> = string extends keyof TRecord
  ? never
  : {
      [TKey in keyof TRecord & string]: TRecord[TKey] extends AnyTRPCProcedure
        ? TKey
        : `${TKey}.${PathsIn<TRecord[TKey]>}`;
    }[keyof TRecord & string];

type NamesAt<TRecord, TPath extends string> = TPath extends `${infer THead}.${infer TRest}`
  ? THead extends keyof TRecord
    ? NamesAt<TRecord[THead], TRest>
    : never
  : TPath extends keyof TRecord
    ? OwnNames<TRecord[TPath]>
    : never;

type NamesIn<TRecord> = string extends keyof TRecord
  ? never
  : TRecord extends RateLimitRecord<string>
    ? OwnNames<TRecord>
    : {
        [TKey in keyof TRecord]: TRecord[TKey] extends AnyTRPCProcedure
          ? never
          : NamesIn<TRecord[TKey]>;
      }[keyof TRecord];

/** The names of one router of `createRateLimitTRPC`. */
type OwnNames<TRecord> = TRecord extends RateLimitRecord<infer TName> ? TName : never;

interface RateLimitRecord<TName extends string> {
  status: { _def: { $types: { input: { name: TName } } } };
  watch: AnyTRPCProcedure;
}
