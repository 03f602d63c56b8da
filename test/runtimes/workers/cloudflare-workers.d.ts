/** The module of workerd that the workers of the tests import. */
declare module "cloudflare:workers" {
  export const env: {
    readonly DB: import("../../../server/index.js").D1DatabaseLike;
    readonly POSTGRES_URL: string;
    readonly HYPERDRIVE: { readonly connectionString: string };
  };
  export function waitUntil(promise: Promise<unknown>): void;
}
