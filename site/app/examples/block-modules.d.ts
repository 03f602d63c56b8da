/** What the blocks of the pages export. `test/docs/code-blocks.test.ts` compiles the blocks themselves. */
declare module "block:docs/countdown.md#client/waiting.tsx" {
  import type { ReactElement } from "react";
  export function Waiting(props: { onSend: () => void }): ReactElement;
}
declare module "block:docs/react.md#client/send-button.tsx" {
  import type { ReactElement } from "react";
  export function SendButton(props: { onSend: () => void }): ReactElement;
}
declare module "block:docs/mutations.md#client/composer.tsx" {
  import type { ReactElement } from "react";
  export function Composer(): ReactElement;
}
declare module "block:docs/devtools.md#client/panel.tsx" {
  import type { ReactElement } from "react";
  export function Panel(props: { theme: "light" | "dark" }): ReactElement;
}
declare module "block:docs/admin.md#client/support.tsx" {
  import type { ReactElement } from "react";
  export function Support(): ReactElement;
}
