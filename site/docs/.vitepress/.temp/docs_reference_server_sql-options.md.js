import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"SQL options","description":"The options that all SQL stores have.","frontmatter":{"description":"The options that all SQL stores have."},"headers":[],"relativePath":"docs/reference/server/sql-options.md","filePath":"docs/reference/server/sql-options.md"}');
const _sfc_main = { name: "docs/reference/server/sql-options.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="sql-options" tabindex="-1">SQL options <a class="header-anchor" href="#sql-options" aria-label="Permalink to &quot;SQL options&quot;">​</a></h1><p>The options that all SQL stores have.</p><h2 id="sqlstoreoptions" tabindex="-1">SqlStoreOptions <a class="header-anchor" href="#sqlstoreoptions" aria-label="Permalink to &quot;SqlStoreOptions&quot;">​</a></h2><p>The options that all SQL stores share.</p><table tabindex="0"><thead><tr><th>Option</th><th>Type</th><th>About</th></tr></thead><tbody><tr><td><code>table?</code></td><td><code>string</code></td><td>The table&#39;s name, as in the package&#39;s migrations. <strong>Default:</strong> &quot;RateLimit&quot;</td></tr><tr><td><code>schema?</code></td><td><code>string</code></td><td>The schema of the table. On MySQL, its database. <strong>Default:</strong> the connection&#39;s own</td></tr><tr><td><code>overridesTable?</code></td><td><code>string</code></td><td>The name of the table of overrides, in the same schema. Only a limiter with <code>overrides</code> uses it. <strong>Default:</strong> that of the table with &quot;Override&quot; after it, or &quot;_override&quot; if it has no capitals</td></tr><tr><td><code>isolation?</code></td><td><code>Options[&quot;isolation&quot;]</code></td><td><code>&quot;serializable&quot;</code> decides every call in a Serializable transaction, which is retried on conflicts. Without it, calls are just as exact, by guarded writes, and much faster. <strong>Default:</strong> guarded writes</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/server/sql-options.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const sqlOptions = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  sqlOptions as default
};
