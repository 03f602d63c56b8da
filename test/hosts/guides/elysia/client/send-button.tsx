import { RateLimitButton, useRateLimitedAction } from "./limits.js";

export function SendButton() {
  const { action } = useRateLimitedAction("sendMessage", () =>
    fetch("/messages", { method: "POST" }),
  );
  return (
    <RateLimitButton name="sendMessage" onClick={() => void action()}>
      Send
    </RateLimitButton>
  );
}
