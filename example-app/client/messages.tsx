/** All messages, newest last. */
import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "./trpc.js";

/** How often other visitors' messages are fetched, ms. */
const INTERVAL = 2000;

export function Messages() {
  const trpc = useTRPC();
  const { data: messages, error } = useQuery(
    trpc.chat.list.queryOptions(undefined, { refetchInterval: INTERVAL }),
  );

  if (error && !messages) return <p role="alert">The server does not answer.</p>;
  return (
    <div className="scroll">
      <ol className="messages" aria-label="Messages" aria-live="polite">
        {messages?.length === 0 && <li className="empty">Nobody has said anything yet.</li>}
        {messages?.map(({ id, author, mine, text }) => (
          <li key={id} className={mine ? "mine" : undefined}>
            <b>{mine ? "You" : author}</b>
            <span>{text}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
