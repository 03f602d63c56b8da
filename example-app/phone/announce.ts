/** What the terminal says about phones. */
import { styleText } from "node:util";
import { renderUnicodeCompact } from "uqr";
import { phoneAddress } from "./phone.js";

export function announcePhone(key: string, port: number): void {
  console.log("Every network of this machine reaches it. With --local, only this machine does.");
  const address = phoneAddress(key, port);
  if (address === undefined) {
    console.log("This machine has no address in a local network, so no phone reaches it.");
    return;
  }
  console.log(`
Now with your phone, as the same visitor. Open the page here first, then scan:

${codeOf(address)}

${address}
`);
}

/** Light on dark in every terminal, whatever its own colours are. Without a terminal, there are none. */
function codeOf(address: string): string {
  const lines = renderUnicodeCompact(address, { border: 2 }).split("\n");
  if (!process.stdout.isTTY) return lines.join("\n");
  return lines.map((line) => styleText(["bgBlack", "whiteBright"], line)).join("\n");
}
