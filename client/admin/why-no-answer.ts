/** Why a question of a view has no answer, in words. */
import { messageOf, troubleOf } from "./admin-client.js";

export function whyNoAnswer(error: unknown): string {
  switch (troubleOf(error)) {
    case "missing":
      return "The server does not know this question: its version of trpc-rate-limit is older than that of this page.";
    case "refused":
      return "You may not see this.";
    case "wrong":
      return `The server does not take the question: ${messageOf(error)}`;
    default:
      return "Not known: the server has not answered yet.";
  }
}
