/** Pieces of the applications without tRPC. */

/** A component whose button calls a route. */
export const POST_BUTTON = `import { useState } from "react";

export function PostButton() {
  const [sent, setSent] = useState(0);

  async function send() {
    const response = await fetch("/api/posts", { method: "POST" });
    if (response.ok) setSent(sent + 1);
  }

  return (
    <button type="button" onClick={send}>
      Send
    </button>
  );
}
`;

export const LIMITED_BUTTON = ["<RateLimitButton", "onClick={send}>Send</RateLimitButton>"];
