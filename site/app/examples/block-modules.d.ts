/** What the blocks of the pages export. `test/docs/code-blocks.test.ts` compiles the blocks themselves. */
declare module "block:docs/countdown.md#client/waiting.tsx" {
  export function Waiting(props: { onSend: () => void }): import("react").ReactElement;
}
declare module "block:docs/react.md#client/send-button.tsx" {
  export function SendButton(props: { onSend: () => void }): import("react").ReactElement;
}
declare module "block:docs/mutations.md#client/composer.tsx" {
  export function Composer(): import("react").ReactElement;
}
declare module "block:docs/devtools.md#client/panel.tsx" {
  export function Panel(props: { theme: "light" | "dark" }): import("react").ReactElement;
}
declare module "block:docs/admin.md#client/support.tsx" {
  export function Support(): import("react").ReactElement;
}
