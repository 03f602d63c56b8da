/**
 * Does to a page what the translator of a browser does. This function puts `<font>` elements with texts
 * of their own in place of the page's texts, now and whenever a text comes later. A framework then still
 * holds texts that are no longer in the document, and throws when it removes such a text, or inserts
 * something before it. Chrome leaves blanks alone. Here blanks are replaced, too, because some
 * translators replace them.
 *
 * This function uses nothing outside of itself, so that it can run in a page of Chromium.
 *
 * @returns a function that ends the translation: later texts stay as they are.
 */
export function translatePage(): () => void {
  function translate(node: Node): void {
    if (node instanceof Element) {
      const isLeft = node.matches("script, style, textarea, font, [translate=no], .notranslate");
      if (!isLeft) for (const child of node.childNodes) translate(child);
    } else if (node.nodeType === Node.TEXT_NODE && node.nodeValue !== "") {
      const outer = document.createElement("font");
      const inner = outer.appendChild(document.createElement("font"));
      inner.textContent = node.nodeValue;
      node.parentNode?.replaceChild(outer, node);
    }
  }
  translate(document.body);
  const observer = new MutationObserver((records) => {
    for (const { target, addedNodes } of records) {
      if (target.parentElement?.closest("font")) continue;
      if (target.nodeType === Node.TEXT_NODE) translate(target);
      for (const node of addedNodes) if (node.isConnected) translate(node);
    }
  });
  observer.observe(document.body, { childList: true, characterData: true, subtree: true });
  return () => observer.disconnect();
}
