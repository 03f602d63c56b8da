/** The chat: the messages of all visitors, live, and the form to write in. */
import { useRef, useState } from "react";
import { Part } from "../shared/page/pieces.js";
import { Composer } from "./composer.js";
import { Messages } from "./messages.js";
import "./page.css";
import { useMessages } from "./use-messages.js";
import { useOutbox } from "./use-outbox.js";

export function Chat() {
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const { messages, add, isLost } = useMessages();
  // Limit: the outbox sends what it allows, and holds the rest.
  const outbox = useOutbox({
    onSent: (message) => add([message]),
    // What could not be sent is in the field again, as a line of its own.
    onReturned: (returned) => setText((typed) => (typed ? `${typed}\n${returned}` : returned)),
  });

  function cancel() {
    outbox.cancel();
    // The button that was pressed is gone now.
    field.current?.focus();
  }

  return (
    <Part
      title="Chat"
      lead="Three messages at once, then one every six seconds. Several lines are several messages, which wait for their turn and go by themselves."
    >
      <div className="chat">
        <Messages messages={messages} outbox={outbox} onCancel={cancel} />
        <Composer field={field} text={text} onText={setText} outbox={outbox} isLost={isLost} />
      </div>
    </Part>
  );
}
