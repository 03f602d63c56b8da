/** "Now with your phone": the address that opens the demo there as the same visitor, also as a code. */
import { useQuery } from "@tanstack/react-query";
import { encode } from "uqr";
import { useTRPC } from "../shared/page/trpc.js";
import "./card.css";

export default function PhoneCard() {
  const { data } = useQuery(useTRPC().phone.address.queryOptions());
  return (
    <section
      className="card phone"
      data-empty={data && data.address === undefined}
      aria-labelledby="phone-title"
    >
      <h2 id="phone-title">Now with your phone</h2>
      {data && <p>{describe(data)}</p>}
      {data?.address !== undefined && (
        <>
          <Code text={data.address} />
          <code>{data.address}</code>
        </>
      )}
    </section>
  );
}

function describe({ isOpen, address }: { isOpen: boolean; address?: string | undefined }): string {
  if (!isOpen)
    return "This demo has no address for a phone: it was started with --local, or in production.";
  if (address === undefined) {
    return "The machine of this demo has no address in a local network, so no phone reaches it.";
  }
  return "In the same network, scan this and press there. Both devices are one visitor, so they drain one bucket and count down together. Keep the address to yourself: it makes a device you.";
}

/** The dark squares as one path, on white with the margin that scanners need. */
function Code({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 4 });
  const squares = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
  );
  return (
    <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label="Code of the address below">
      <rect width={size} height={size} fill="#fff" />
      <path d={squares.join("")} fill="#000" />
    </svg>
  );
}
