/** The module that highlight-code.ts makes of a file. */
declare module "code:*" {
  import type { Code } from "./code.js";
  const code: Code;
  export default code;
}
