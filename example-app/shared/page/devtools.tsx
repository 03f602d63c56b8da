/** Shows the page's knowledge of its limits, as a tab of TanStack Devtools. */
import { TanStackDevtools } from "@tanstack/react-devtools";
import { rateLimitDevtools } from "trpc-rate-limit/devtools";
import { client } from "./trpc.js";

const plugins = [{ ...rateLimitDevtools({ client }), defaultOpen: true }];

export default function Devtools() {
  return (
    <TanStackDevtools
      plugins={plugins}
      // A visitor who could drag the button might put it over the content.
      config={{ triggerMode: "fixed", customTrigger: <span className="devtools">Devtools</span> }}
    />
  );
}
