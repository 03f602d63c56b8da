/** The module of workerd that the workers of the tests import. */
declare module "cloudflare:workers" {
  import type { D1DatabaseLike } from "../../../server/index.js";

  export const env: {
    readonly DB: D1DatabaseLike;
    readonly POSTGRES_URL: string;
    readonly HYPERDRIVE: { readonly connectionString: string };
  };
  export function waitUntil(promise: Promise<unknown>): void;
}
