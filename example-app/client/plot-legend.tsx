/** What the line and the marks of the plot mean. */
export function Legend() {
  return (
    <ul className="legend" aria-hidden="true">
      <Item kind="line" text="predicted by this page" />
      <Item kind="granted" text="granted" />
      <Item kind="denied" text="denied" />
      <Item kind="snapshot" text="snapshot of the server" />
    </ul>
  );
}

function Item({ kind, text }: { kind: string; text: string }) {
  return (
    <li>
      <svg className={kind} width="18" height="12" viewBox="0 0 18 12">
        {kind === "line" && <path d="M1 9 L17 3" />}
        {kind === "denied" && <path d="M6 3 L12 9 M6 9 L12 3" />}
        {(kind === "granted" || kind === "snapshot") && <circle cx="9" cy="6" r="3.5" />}
      </svg>
      {text}
    </li>
  );
}
