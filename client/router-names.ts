/** What an application's router type says: the paths of its procedures, and its limits' names. */
import type { AnyTRPCProcedure, AnyTRPCRouter } from "@trpc/server";

/** Any string at all where nothing is known of the router. */
export type ProcedurePath<TRouter extends AnyTRPCRouter> = OrString<
  PathsIn<TRouter["_def"]["record"]>
>;

/** The names of the limits of every router of `createRateLimitTRPC` in it. */
export type RouterLimitName<TRouter extends AnyTRPCRouter> = OrString<
  NamesIn<TRouter["_def"]["record"]>
>;

type OrString<TNames> = [TNames] extends [never] ? string : TNames & string;

type PathsIn<TRecord> = string extends keyof TRecord
  ? never
  : {
      [TKey in keyof TRecord & string]: TRecord[TKey] extends AnyTRPCProcedure
        ? TKey
        : `${TKey}.${PathsIn<TRecord[TKey]>}`;
    }[keyof TRecord & string];

type NamesIn<TRecord> = string extends keyof TRecord
  ? never
  : TRecord extends { status: StatusProcedure<infer TName>; watch: AnyTRPCProcedure }
    ? TName
    : {
        [TKey in keyof TRecord]: TRecord[TKey] extends AnyTRPCProcedure
          ? never
          : NamesIn<TRecord[TKey]>;
      }[keyof TRecord];

interface StatusProcedure<TName extends string> {
  _def: { $types: { input: { name: TName } } };
}
