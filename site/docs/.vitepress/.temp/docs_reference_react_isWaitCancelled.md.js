import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"isWaitCancelled","description":"Whether a mutation failed because it was cancelled while it was held, with whenLimited: \\"wait\\". It was never sent, and the server was not asked.","frontmatter":{"description":"Whether a mutation failed because it was cancelled while it was held, with whenLimited: \\"wait\\". It was never sent, and the server was not asked."},"headers":[],"relativePath":"docs/reference/react/isWaitCancelled.md","filePath":"docs/reference/react/isWaitCancelled.md"}');
const _sfc_main = { name: "docs/reference/react/isWaitCancelled.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="iswaitcancelled" tabindex="-1">isWaitCancelled <a class="header-anchor" href="#iswaitcancelled" aria-label="Permalink to &quot;isWaitCancelled&quot;">​</a></h1><div class="language-ts vp-adaptive-theme"><button title="Copy the code" class="copy"></button><span class="lang">ts</span><pre class="shiki shiki-themes github-light-high-contrast github-dark-high-contrast vp-code"><code><span class="line"><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;">isWaitCancelled</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">(error: unknown): boolean</span></span></code></pre></div><p>Whether a mutation failed because it was cancelled while it was held, with <code>whenLimited: &quot;wait&quot;</code>. It was never sent, and the server was not asked.</p><div class="language-ts vp-adaptive-theme"><button title="Copy the code" class="copy"></button><span class="lang">ts</span><pre class="shiki shiki-themes github-light-high-contrast github-dark-high-contrast vp-code"><code><span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">import</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> { isWaitCancelled } </span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">from</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> &quot;trpc-rate-limit/react&quot;</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">;</span></span>
<span class="line"></span>
<span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">const</span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;"> onError</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;"> =</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> (</span><span style="--shiki-light:#702C00;--shiki-dark:#FFB757;">error</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">:</span><span style="--shiki-light:#023B95;--shiki-dark:#91CBFF;"> unknown</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">) </span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">=&gt;</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> {</span></span>
<span class="line" style="--indent:2ch;"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">  if</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> (</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">!</span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;">isWaitCancelled</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">(error)) console.</span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;">error</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">(error);</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">};</span></span></code></pre></div><table tabindex="0"><thead><tr><th>Parameter</th><th>Type</th><th>About</th></tr></thead><tbody><tr><td><code>error</code></td><td><code>unknown</code></td><td>what <code>onError</code> gets, or what <code>mutateAsync</code> rejects with.</td></tr></tbody></table><p><strong>Returns</strong> <code>boolean</code></p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/react/isWaitCancelled.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const isWaitCancelled = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  isWaitCancelled as default
};
