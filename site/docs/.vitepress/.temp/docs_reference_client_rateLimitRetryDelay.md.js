import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse(`{"title":"rateLimitRetryDelay","description":"For retryDelay of a QueryClient's default options: ms until the next attempt.","frontmatter":{"description":"For retryDelay of a QueryClient's default options: ms until the next attempt."},"headers":[],"relativePath":"docs/reference/client/rateLimitRetryDelay.md","filePath":"docs/reference/client/rateLimitRetryDelay.md"}`);
const _sfc_main = { name: "docs/reference/client/rateLimitRetryDelay.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="ratelimitretrydelay" tabindex="-1">rateLimitRetryDelay <a class="header-anchor" href="#ratelimitretrydelay" aria-label="Permalink to &quot;rateLimitRetryDelay&quot;">​</a></h1><div class="language-ts vp-adaptive-theme"><button title="Copy the code" class="copy"></button><span class="lang">ts</span><pre class="shiki shiki-themes github-light-high-contrast github-dark-high-contrast vp-code"><code><span class="line"><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;">rateLimitRetryDelay</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">(failureCount: number, error: unknown): number</span></span></code></pre></div><p>For <code>retryDelay</code> of a <code>QueryClient</code>&#39;s default options: ms until the next attempt.</p><ul><li>denied: its <code>retryAfter</code>, and up to a second more at random, or as long as a timer can wait;</li><li>the limits cannot be checked (<code>SERVICE_UNAVAILABLE</code>): twice the usual at most, at random, so that a database that comes back does not get all queries at once;</li><li>anything else: 1 s, doubling up to 30 s.</li></ul><div class="language-ts vp-adaptive-theme"><button title="Copy the code" class="copy"></button><span class="lang">ts</span><pre class="shiki shiki-themes github-light-high-contrast github-dark-high-contrast vp-code"><code><span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">import</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> { QueryClient } </span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">from</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> &quot;@tanstack/react-query&quot;</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">;</span></span>
<span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">import</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> { rateLimitRetry, rateLimitRetryDelay } </span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">from</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> &quot;trpc-rate-limit/client&quot;</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">;</span></span>
<span class="line"></span>
<span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">const</span><span style="--shiki-light:#023B95;--shiki-dark:#91CBFF;"> queryClient</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;"> =</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;"> new</span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;"> QueryClient</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">({</span></span>
<span class="line" style="--indent:2ch;"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">  defaultOptions: { queries: { retry: </span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;">rateLimitRetry</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">(), retryDelay: rateLimitRetryDelay } },</span></span>
<span class="line"><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">});</span></span></code></pre></div><table tabindex="0"><thead><tr><th>Parameter</th><th>Type</th></tr></thead><tbody><tr><td><code>failureCount</code></td><td><code>number</code></td></tr><tr><td><code>error</code></td><td><code>unknown</code></td></tr></tbody></table><p><strong>Returns</strong> <code>number</code></p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/client/rateLimitRetryDelay.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const rateLimitRetryDelay = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  rateLimitRetryDelay as default
};
