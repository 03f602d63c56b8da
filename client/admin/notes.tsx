/** The notes in places where there is nothing to see, and the reasons. */
"use client";
import type { ReactElement } from "react";
import { messageOf, troubleOf } from "./admin-client.js";
import { useAdmin } from "./admin-context.js";
import { type HealthStore, useHealth } from "./health.js";

export function Loading({ children }: { children: string }): ReactElement {
  return (
    <p className="rla-note rla-loading" role="status">
      {children}
    </p>
  );
}

export function Nothing({ children }: { children: string }): ReactElement {
  return <p className="rla-note">{children}</p>;
}

/** Stands in place of everything when the first question had no answer. */
export function TroubleNote({
  error,
  path,
  onRetry,
}: {
  error: unknown;
  path: string;
  onRetry: () => void;
}): ReactElement {
  const { title, text } = wordsFor(error, path);
  return (
    <div className="rla-trouble" role="alert">
      <h2>{title}</h2>
      <p>{text}</p>
      <button type="button" className="rla-button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

function wordsFor(error: unknown, path: string): { title: string; text: string } {
  switch (troubleOf(error)) {
    case "refused":
      return {
        title: "You may not see this page",
        text: "The server shows the rate limits only to those whom the application allows. Sign in as someone else, or ask for the right.",
      };
    case "missing":
      return {
        title: "There is nothing to ask",
        text: `The application's router has nothing at “${path}”. Put rl.admin there, or give the component another path.`,
      };
    case "wrong":
      return { title: "The server did not take the question", text: messageOf(error) };
    default:
      return {
        title: "The server does not answer",
        text: "Nothing is known of the limits yet. This page asks again by itself.",
      };
  }
}

/** Whether the page is fresh. Screen readers say so only when that changes. */
export function Connection({ health, path }: { health: HealthStore; path: string }): ReactElement {
  const { formats } = useAdmin();
  const { trouble, answeredAt } = useHealth(health);
  const last = answeredAt === undefined ? "" : ` This is from ${formats.exactTime(answeredAt)}.`;
  const text = {
    refused: `You may not see this any more.${last}`,
    missing: `The server knows nothing at “${path}” any more.${last}`,
    offline: `The server does not answer.${last}`,
  };
  return (
    <div className="rla-connection" data-state={trouble ?? "live"}>
      <p role="status">{trouble ? text[trouble] : "Live"}</p>
      {!trouble && answeredAt !== undefined && (
        <p className="rla-quiet">{`as of ${formats.exactTime(answeredAt)}`}</p>
      )}
    </div>
  );
}
