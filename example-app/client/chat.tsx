/** The chat: everybody's messages, and the form to write in. */
import { Composer } from "./composer.js";
import { Messages } from "./messages.js";
import { Part } from "./part.js";

export function Chat() {
  return (
    <Part title="Chat" lead="Three messages at once, then one every six seconds.">
      <div className="chat">
        <Messages />
        <Composer />
      </div>
    </Part>
  );
}
