"use client";

import { useActionState } from "react";

import { useRateLimit } from "~/trpc/rate-limit";
import { createPost, sendFeedback } from "./actions";

export function PostForm() {
  const [message, action, isPending] = useActionState(createPost, "");
  return (
    <form action={action}>
      <input name="name" placeholder="Title" defaultValue="From an action" />
      <button type="submit" disabled={isPending}>
        Post
      </button>
      <output>{message}</output>
    </form>
  );
}

export function FeedbackForm() {
  const [message, action, isPending] = useActionState(sendFeedback, "");
  const { value } = useRateLimit("feedback");
  return (
    <form action={action}>
      <input name="text" placeholder={`Feedback (${value ?? "?"} left)`} />
      <button type="submit" disabled={isPending}>
        Send
      </button>
      <output>{message}</output>
    </form>
  );
}
