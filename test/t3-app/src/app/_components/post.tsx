"use client";

import { useState } from "react";

import { RateLimitCountdown, useRateLimit } from "~/trpc/rate-limit";
import { api } from "~/trpc/react";

export function LatestPost() {
  const [latestPost] = api.post.getLatest.useSuspenseQuery();

  const utils = api.useUtils();
  const [name, setName] = useState("");
  const { status, value, connection } = useRateLimit("createPost");
  const createPost = api.post.create.useMutation({
    onSuccess: async () => {
      await utils.post.invalidate();
      setName("");
    },
  });

  return (
    <section>
      <p>{latestPost ? `Your most recent post: ${latestPost.name}` : "You have no posts yet."}</p>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          createPost.mutate({ name });
        }}
      >
        <input
          type="text"
          placeholder="Title"
          value={name}
          onChange={(e) => setName(e.target.value)}
        />
        <button type="submit" disabled={createPost.isPending || status?.ok === false}>
          {status?.ok === false ? (
            <>
              <span>Wait </span>
              <RateLimitCountdown retryAt={status.retryAt} />
            </>
          ) : (
            "Submit"
          )}
        </button>
      </form>
      {createPost.error && <p role="alert">{createPost.error.message}</p>}
      <footer>
        <span>{`Posts left: ${value ?? "?"}`}</span>
        <span>{`Connection: ${connection}`}</span>
      </footer>
    </section>
  );
}
