import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"trpc-rate-limit/drizzle","description":"drizzleStore.","frontmatter":{"description":"drizzleStore."},"headers":[],"relativePath":"docs/reference/drizzle/index.md","filePath":"docs/reference/drizzle/index.md"}');
const _sfc_main = { name: "docs/reference/drizzle/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="trpc-rate-limitdrizzle" tabindex="-1">trpc-rate-limit/drizzle <a class="header-anchor" href="#trpc-rate-limitdrizzle" aria-label="Permalink to &quot;trpc-rate-limit/drizzle&quot;">​</a></h1><p><code>drizzleStore</code>.</p><h2 id="stores" tabindex="-1">Stores <a class="header-anchor" href="#stores" aria-label="Permalink to &quot;Stores&quot;">​</a></h2><table tabindex="0"><thead><tr><th>Name</th><th>About</th></tr></thead><tbody><tr><td><a href="/trpc-rate-limit/docs/reference/drizzle/drizzleStore"><code>drizzleStore</code></a></td><td><code>trpc-rate-limit/drizzle</code>: a store on the application&#39;s Drizzle database.</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/drizzle/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
