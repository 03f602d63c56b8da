import { LatestPost } from "~/app/_components/post";
import { WithoutStream } from "~/app/_components/without-stream";
import { api, HydrateClient } from "~/trpc/server";

export default async function WithoutStreamPage(props: { params: Promise<{ live: string }> }) {
  const { live } = await props.params;

  void api.post.getLatest.prefetch();
  await api.rateLimit.status.prefetch({ name: "createPost" });

  return (
    <WithoutStream live={live === "off" ? "off" : "stream"}>
      <HydrateClient>
        <main>
          <h1>Without a stream</h1>
          <LatestPost />
        </main>
      </HydrateClient>
    </WithoutStream>
  );
}
