/** Finds a key that a person types, as the application gives it to the limiter. */
"use client";
import { type ReactElement, useId, useState } from "react";
import { useAdmin } from "./admin-context.js";

export function KeySearch(): ReactElement {
  const { limits, openKey } = useAdmin();
  const [text, setText] = useState("");
  const id = useId();
  return (
    <form
      role="search"
      className="rla-search"
      onSubmit={(event) => {
        event.preventDefault();
        // A pasted key often has a space at its end.
        const key = text.trim();
        if (key !== "") openKey({ key });
      }}
    >
      <label htmlFor={id}>Look up a key</label>
      <div className="rla-line">
        <input
          id={id}
          type="search"
          value={text}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          placeholder="a user id, an address…"
          aria-describedby={limits.hashed ? `${id}-hint` : undefined}
          onChange={({ target }) => setText(target.value)}
        />
        <button type="submit" className="rla-button">
          Look up
        </button>
      </div>
      {limits.hashed && (
        <p id={`${id}-hint`} className="rla-quiet">
          Keys are stored as hashes. Type it as the application has it.
        </p>
      )}
    </form>
  );
}
