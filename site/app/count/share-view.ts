/** The dialog of "Share": the address of code and seed, and a picture of their run, if there was one. */
import { verdictOf } from "./explain.js";
import type { Pictured } from "./result-picture.js";
import { fragmentOf, type Shared } from "./share.js";

const FILE = "count-to-ten.png";

const byId = (id: string) => document.getElementById(id)!;

export function createShareView() {
  const dialog = byId("count-sharing") as HTMLDialogElement;
  const image = byId("count-picture") as HTMLImageElement;
  const address = byId("count-address") as HTMLInputElement;
  const download = byId("count-download") as HTMLAnchorElement;
  const [copy, send, said] = [byId("count-copy"), byId("count-send"), byId("count-shared")];
  const forPicture = [image, download, copy, send];
  let shown: { file: File; text: string } | undefined;

  const say = (text: string) => void (said.textContent = text);

  /** The address is copied even if no picture can be drawn. */
  async function open(shared: Shared, pictured: Pictured | undefined): Promise<void> {
    const fragment = await fragmentOf(shared);
    for (const element of forPicture) element.hidden = true;
    shown = undefined;
    address.value = "";
    if (fragment !== undefined) {
      history.replaceState(null, "", fragment);
      address.value = location.href;
    }
    if (pictured !== undefined) await showPicture(pictured);
    dialog.showModal();
    if (fragment === undefined) return say("This code is too long for an address.");
    const rest = pictured === undefined ? " Run this code, and Share has a picture, too." : "";
    try {
      await navigator.clipboard.writeText(address.value);
      say(`The address with this code and seed is copied.${rest}`);
    } catch {
      say(`Copy the address from the field below.${rest}`);
    }
  }

  async function showPicture(pictured: Pictured): Promise<void> {
    try {
      // Few visitors share, and only they load what draws.
      const { pictureOf, textOf } = await import("./result-picture.js");
      const file = new File([await pictureOf(pictured)], FILE, { type: "image/png" });
      shown = { file, text: `${pictured.name}: ${verdictOf(pictured.run)}` };
      image.alt = textOf(pictured);
      image.src = download.href = URL.createObjectURL(file);
      image.hidden = download.hidden = false;
      copy.hidden = typeof ClipboardItem === "undefined";
      send.hidden = !navigator.canShare?.({ files: [file] });
    } catch {
      // Offline, for example. The address is shared without a picture.
    }
  }

  copy.addEventListener("click", () => {
    if (shown === undefined) return;
    navigator.clipboard.write([new ClipboardItem({ [shown.file.type]: shown.file })]).then(
      () => say("The picture is copied."),
      () => say("The browser did not copy the picture. Download it instead."),
    );
  });
  send.addEventListener("click", () => {
    if (shown === undefined) return;
    const { file, text } = shown;
    const url = address.value === "" ? {} : { url: address.value };
    navigator.share({ files: [file], title: document.title, text, ...url }).then(
      () => say("It is on its way."),
      // A visitor who closes the browser's own dialog has decided so.
      (error: Error) => error.name !== "AbortError" && say("The browser did not send it."),
    );
  });
  address.addEventListener("focus", () => address.select());
  byId("count-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    if (image.src !== "") URL.revokeObjectURL(image.src);
    say("");
  });
  // A press beside the dialog closes it.
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());

  return { open };
}
