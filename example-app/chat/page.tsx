/** The chat: the messages of all visitors, live, and the form to write in. */
import code from "code:./minimal.tsx";
import { useRef } from "react";
import { Part } from "../shared/page/pieces.js";
import { Composer } from "./composer.js";
import { KeptOutbox, useKeptOutbox } from "./kept-outbox.js";
import { Messages } from "./messages.js";
import "./page.css";
import { useMessages } from "./use-messages.js";
import type { Outbox } from "./use-outbox.js";

/** Where a `KeptOutbox` stands above, the outbox goes on while another part is shown. */
export default function Chat() {
  const kept = useKeptOutbox();
  if (kept) return <Conversation outbox={kept} />;
  return (
    <KeptOutbox>
      <Chat />
    </KeptOutbox>
  );
}

function Conversation({ outbox }: { outbox: Outbox }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const { messages, isLost } = useMessages(outbox.sent);

  function cancel() {
    outbox.cancel();
    // Not every browser gives the focus to a button that is pressed.
    field.current?.focus();
  }

  return (
    <Part
      title="Chat"
      code={code}
      lead="Three messages at once, then one every six seconds. What you type stays in the field until its first line can go. The lines below it wait for their turn, and go by themselves."
    >
      <div className="chat">
        <Messages messages={messages} outbox={outbox} field={field} onCancel={cancel} />
        <Composer field={field} outbox={outbox} isLost={isLost || outbox.hasNoNetwork} />
      </div>
    </Part>
  );
}
