/** A page in a frame: one part, without the title and the list of parts. */
import { lazy, Suspense } from "react";

const PARTS = {
  chat: lazy(() => import("../../chat/page.js")),
  "sign-ups": lazy(() => import("../../sign-ups/page.js")),
};

export default function Frame() {
  const Shown = location.hash === "#sign-ups" ? PARTS["sign-ups"] : PARTS.chat;
  return (
    <main className="framed">
      <Suspense fallback={<p className="late">Loading…</p>}>
        <Shown />
      </Suspense>
    </main>
  );
}
