import { isRateLimitError } from "trpc-rate-limit";

import { api, HydrateClient } from "~/trpc/server";
import { FeedbackForm, PostForm } from "./forms";

/** A limited query in a server component. */
async function readReport(): Promise<string> {
  try {
    const { total } = await api.post.report();
    return `${total} posts`;
  } catch (error) {
    if (!isRateLimitError(error)) throw error;
    return `The report opens in ${Math.ceil(error.data.rateLimit.retryAfter / 60_000)} minutes`;
  }
}

export default async function Actions() {
  const report = await readReport();
  await api.rateLimit.status.prefetch({ name: "feedback" });

  return (
    <HydrateClient>
      <main>
        <h1>Server actions</h1>
        <section>
          <p>{report}</p>
          <PostForm />
          <FeedbackForm />
        </section>
      </main>
    </HydrateClient>
  );
}
