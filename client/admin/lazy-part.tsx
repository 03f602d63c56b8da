/**
 * A part of a control room whose code is loaded when the part is first shown. Unlike `React.lazy`, a part
 * that could not be loaded says so in its place and can be tried again: after a deployment, the code that
 * an open page asks for may be gone.
 */
"use client";
import { type ComponentType, type ReactElement, useEffect, useState } from "react";
import { Loading } from "./notes.js";

export interface LazyPart<TProps> {
  (props: TProps): ReactElement;
  /** Loads the code ahead of its use. Never rejects. */
  preload(): Promise<void>;
}

export function lazyPart<TProps extends object>(
  load: () => Promise<ComponentType<TProps>>,
): LazyPart<TProps> {
  let Loaded: ComponentType<TProps> | undefined;
  const ask = async () => {
    Loaded ??= await load();
  };

  function Part(props: TProps): ReactElement {
    const [state, setState] = useState<"asking" | "there" | "failed">("asking");
    const isAsking = state === "asking";
    useEffect(() => {
      // Also where the code has come since the render.
      if (!isAsking) return undefined;
      let isOver = false;
      const tell = (next: "there" | "failed") => () => !isOver && setState(next);
      ask().then(tell("there"), tell("failed"));
      return () => {
        isOver = true;
      };
    }, [isAsking]);
    if (Loaded) return <Loaded {...props} />;
    if (state !== "failed") return <Loading>Loading this part…</Loading>;
    return (
      <div className="rla-trouble" role="alert">
        <p>This part of the page could not be loaded. Try again, or load the page again.</p>
        <button type="button" className="rla-button" onClick={() => setState("asking")}>
          Try again
        </button>
      </div>
    );
  }
  return Object.assign(Part, { preload: () => ask().catch(() => {}) });
}
