import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"trpc-rate-limit/ai","description":"Middleware for models of the AI SDK, and header fields of providers.","frontmatter":{"description":"Middleware for models of the AI SDK, and header fields of providers."},"headers":[],"relativePath":"docs/reference/ai/index.md","filePath":"docs/reference/ai/index.md"}');
const _sfc_main = { name: "docs/reference/ai/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="trpc-rate-limitai" tabindex="-1">trpc-rate-limit/ai <a class="header-anchor" href="#trpc-rate-limitai" aria-label="Permalink to &quot;trpc-rate-limit/ai&quot;">​</a></h1><p>Middleware for models of the AI SDK, and header fields of providers.</p><h2 id="on-the-server" tabindex="-1">On the server <a class="header-anchor" href="#on-the-server" aria-label="Permalink to &quot;On the server&quot;">​</a></h2><table tabindex="0"><thead><tr><th>Name</th><th>About</th></tr></thead><tbody><tr><td><a href="/trpc-rate-limit/docs/reference/ai/limitModel"><code>limitModel</code></a></td><td>Middleware for <code>wrapLanguageModel</code> of the AI SDK 5, 6 and 7.</td></tr><tr><td><a href="/trpc-rate-limit/docs/reference/ai/rateLimitErrorOf"><code>rateLimitErrorOf</code></a></td><td>The denial of a call of a model.</td></tr><tr><td><a href="/trpc-rate-limit/docs/reference/ai/rateLimitOfHeaders"><code>rateLimitOfHeaders</code></a></td><td>Reads a provider&#39;s header fields, for <code>limiter.observe(name, rateLimitOfHeaders(headers))</code>.</td></tr></tbody></table><h2 id="also-exported" tabindex="-1">Also exported <a class="header-anchor" href="#also-exported" aria-label="Permalink to &quot;Also exported&quot;">​</a></h2><p><a href="/trpc-rate-limit/docs/reference/trpc/keys#keyanswer"><code>KeyAnswer</code></a>, <a href="/trpc-rate-limit/docs/reference/trpc/keys#shared_bucket"><code>SHARED_BUCKET</code></a>, <a href="/trpc-rate-limit/docs/reference/trpc/keys#sharedbucket"><code>SharedBucket</code></a>.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/ai/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
