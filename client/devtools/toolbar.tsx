/** The controls for all limits: the filter, asking, the network, and a copy. */
"use client";
import { type ReactElement, useState } from "react";
import { copyText } from "./copy-text.js";
import type { Recorder } from "./recorder.js";

export function Toolbar({
  recorder,
  isOffline,
  filter,
  onFilter,
}: {
  recorder: Recorder;
  isOffline: boolean;
  filter: string;
  onFilter(filter: string): void;
}): ReactElement {
  const [news, setNews] = useState("");

  async function copy() {
    const isCopied = await copyText(recorder.asText());
    setNews(isCopied ? "Copied as JSON." : "The browser does not let this page copy.");
  }

  return (
    <div className="trl-toolbar">
      <div className="trl-actions">
        <input
          type="search"
          aria-label="Filter limits and events"
          placeholder="Filter"
          value={filter}
          onChange={(event) => onFilter(event.target.value)}
        />
        <button
          type="button"
          onClick={() => {
            for (const observer of recorder.observers) recorder.ask(observer);
          }}
        >
          Ask the server for all
        </button>
        {recorder.network && (
          <button type="button" onClick={() => recorder.setOffline(!isOffline)}>
            {isOffline ? "Go online" : "Go offline"}
          </button>
        )}
        <button type="button" onClick={() => void copy()}>
          Copy as JSON
        </button>
        <span role="status">{news}</span>
      </div>
      {isOffline && (
        <p className="trl-pretence">
          Offline, in this page only: calls of this client fail, and what the server says of its
          limits is not heard, until you go online.
        </p>
      )}
    </div>
  );
}
