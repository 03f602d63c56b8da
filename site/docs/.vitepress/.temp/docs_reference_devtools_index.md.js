import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"trpc-rate-limit/devtools","description":"A panel for TanStack Devtools.","frontmatter":{"description":"A panel for TanStack Devtools."},"headers":[],"relativePath":"docs/reference/devtools/index.md","filePath":"docs/reference/devtools/index.md"}');
const _sfc_main = { name: "docs/reference/devtools/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="trpc-rate-limitdevtools" tabindex="-1">trpc-rate-limit/devtools <a class="header-anchor" href="#trpc-rate-limitdevtools" aria-label="Permalink to &quot;trpc-rate-limit/devtools&quot;">​</a></h1><p>A panel for TanStack Devtools.</p><h2 id="a-plugin" tabindex="-1">A plugin <a class="header-anchor" href="#a-plugin" aria-label="Permalink to &quot;A plugin&quot;">​</a></h2><table tabindex="0"><thead><tr><th>Name</th><th>About</th></tr></thead><tbody><tr><td><a href="/trpc-rate-limit/docs/reference/devtools/rateLimitDevtools"><code>rateLimitDevtools</code></a></td><td>A panel for TanStack Devtools that shows what the page knows of its rate limits.</td></tr></tbody></table><h2 id="also-exported" tabindex="-1">Also exported <a class="header-anchor" href="#also-exported" aria-label="Permalink to &quot;Also exported&quot;">​</a></h2><p><a href="/trpc-rate-limit/docs/reference/client/states#trpcclientlike"><code>TRPCClientLike</code></a>.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/devtools/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
