/** Lines of code in colours, and a button that copies a text. */
import { useEffect, useState } from "react";
import type { CodePiece } from "./code.js";
import { Stable } from "./pieces.js";

/** @param acts the numbers of the lines that do something now, from 0. @default none */
export function CodeLines({
  lines,
  label,
  acts,
}: {
  lines: readonly (readonly CodePiece[])[];
  label: string;
  acts?: ReadonlySet<number>;
}) {
  return (
    // A line may be longer than the window. With the focus here, the arrow keys scroll it.
    <pre className="code" tabIndex={0} role="region" aria-label={label}>
      <code>
        {/* Lines and pieces never change their places, so their places are their keys. */}
        {[...lines.entries()].map(([number, line]) => (
          <span key={number} className="line" translate="no" data-acts={acts?.has(number)}>
            {[...line.entries()].map(([place, piece]) => (
              <Piece key={place} piece={piece} />
            ))}
            {"\n"}
          </span>
        ))}
      </code>
    </pre>
  );
}

function Piece({ piece }: { piece: CodePiece }) {
  return typeof piece === "string" ? piece : <span className={`code-${piece[0]}`}>{piece[1]}</span>;
}

/** How long the button says that it has copied, ms. */
const SAYS_COPIED = 2000;

/**
 * @param what what is copied, for screen readers.
 * @param label what the button says. @default "Copy"
 */
export function CopyButton({
  text,
  what,
  label = "Copy",
}: {
  text: string;
  what: string;
  label?: string;
}) {
  const [isCopied, setCopied] = useState(false);

  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SAYS_COPIED);
    return () => clearTimeout(timer);
  }, [isCopied]);

  // Browsers give pages a clipboard over HTTPS and on localhost only.
  if (!("clipboard" in navigator)) return null;
  return (
    <>
      <button
        type="button"
        className="copy"
        onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      >
        <Stable shown={isCopied ? "Copied" : label} texts={["Copied", label]} />
        <span className="hidden">{` ${what}`}</span>
      </button>
      <span className="hidden" role="status">
        {isCopied && "Copied"}
      </span>
    </>
  );
}
