/** What everybody wrote, newest last. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useTRPC } from "./trpc.js";

/** How often other visitors' messages are looked for, ms. */
const INTERVAL = 2000;

export function Messages() {
  const trpc = useTRPC();
  const { data: messages, error } = useQuery(
    trpc.chat.list.queryOptions(undefined, { refetchInterval: INTERVAL }),
  );
  const end = useRef<HTMLLIElement>(null);
  const newest = messages?.at(-1)?.id;
  useEffect(() => {
    end.current?.scrollIntoView({ block: "end" });
  }, [newest]);

  if (error && !messages) return <p role="alert">The server does not answer.</p>;
  return (
    <ol className="messages" aria-label="Messages" aria-live="polite">
      {messages?.length === 0 && <li className="empty">Nobody has said anything yet.</li>}
      {messages?.map(({ id, author, mine, text }) => (
        <li key={id} className={mine ? "mine" : undefined}>
          <b>{mine ? "You" : author}</b>
          <span>{text}</span>
        </li>
      ))}
      <li ref={end} className="end" aria-hidden />
    </ol>
  );
}
