import { LatestPost } from "~/app/_components/post";
import { api, HydrateClient } from "~/trpc/server";

export default async function Home() {
  const hello = await api.post.hello({ text: "from tRPC" });

  void api.post.getLatest.prefetch();
  await api.rateLimit.status.prefetch({ name: "createPost" });

  return (
    <HydrateClient>
      <main>
        <h1>{hello.greeting}</h1>
        <LatestPost />
      </main>
    </HydrateClient>
  );
}
