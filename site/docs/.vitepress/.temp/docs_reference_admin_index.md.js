import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"trpc-rate-limit/admin","description":"The control room, for the people who help users.","frontmatter":{"description":"The control room, for the people who help users."},"headers":[],"relativePath":"docs/reference/admin/index.md","filePath":"docs/reference/admin/index.md"}');
const _sfc_main = { name: "docs/reference/admin/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="trpc-rate-limitadmin" tabindex="-1">trpc-rate-limit/admin <a class="header-anchor" href="#trpc-rate-limitadmin" aria-label="Permalink to &quot;trpc-rate-limit/admin&quot;">​</a></h1><p>The control room, for the people who help users.</p><h2 id="a-component" tabindex="-1">A component <a class="header-anchor" href="#a-component" aria-label="Permalink to &quot;A component&quot;">​</a></h2><table tabindex="0"><thead><tr><th>Name</th><th>About</th></tr></thead><tbody><tr><td><a href="/trpc-rate-limit/docs/reference/admin/RateLimitAdmin"><code>RateLimitAdmin</code></a></td><td>A page for the people who help users: who is limited now, what was granted and denied, and one key under all limits, with what this caller may do about it.</td></tr></tbody></table><h2 id="also-exported" tabindex="-1">Also exported <a class="header-anchor" href="#also-exported" aria-label="Permalink to &quot;Also exported&quot;">​</a></h2><p><a href="/trpc-rate-limit/docs/reference/client/states#trpcclientlike"><code>TRPCClientLike</code></a>.</p></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/admin/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
