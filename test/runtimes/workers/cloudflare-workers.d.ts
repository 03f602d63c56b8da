/** The module of workerd that the workers of the tests import. */
declare module "cloudflare:workers" {
  export const env: {
    readonly DB: import("./d1-driver.js").D1Like;
    readonly POSTGRES_URL: string;
    readonly HYPERDRIVE: { readonly connectionString: string };
  };
  export function waitUntil(promise: Promise<unknown>): void;
}
