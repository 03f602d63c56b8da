import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"UnsentError","description":"The statement was not sent, because its calls had timed out.","frontmatter":{"description":"The statement was not sent, because its calls had timed out."},"headers":[],"relativePath":"docs/reference/server/UnsentError.md","filePath":"docs/reference/server/UnsentError.md"}');
const _sfc_main = { name: "docs/reference/server/UnsentError.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="unsenterror" tabindex="-1">UnsentError <a class="header-anchor" href="#unsenterror" aria-label="Permalink to &quot;UnsentError&quot;">​</a></h1><div class="language-ts vp-adaptive-theme"><button title="Copy the code" class="copy"></button><span class="lang">ts</span><pre class="shiki shiki-themes github-light-high-contrast github-dark-high-contrast vp-code"><code><span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">class</span><span style="--shiki-light:#702C00;--shiki-dark:#FFB757;"> UnsentError</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;"> extends</span><span style="--shiki-light:#023B95;--shiki-dark:#91CBFF;"> Error</span></span></code></pre></div><p>The statement was not sent, because its calls had timed out.</p><div class="language-ts vp-adaptive-theme"><button title="Copy the code" class="copy"></button><span class="lang">ts</span><pre class="shiki shiki-themes github-light-high-contrast github-dark-high-contrast vp-code"><code><span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">import</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> { UnsentError } </span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">from</span><span style="--shiki-light:#032563;--shiki-dark:#ADDCFF;"> &quot;trpc-rate-limit/server&quot;</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">;</span></span>
<span class="line"></span>
<span class="line"><span style="--shiki-light:#66707B;--shiki-dark:#BDC4CC;">// In the \`query\` of a driver that waits for a connection:</span></span>
<span class="line"><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">if</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;"> (</span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;">isWanted</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">?.() </span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">===</span><span style="--shiki-light:#023B95;--shiki-dark:#91CBFF;"> false</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">) </span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;">throw</span><span style="--shiki-light:#A0111F;--shiki-dark:#FF9492;"> new</span><span style="--shiki-light:#622CBC;--shiki-dark:#DBB7FF;"> UnsentError</span><span style="--shiki-light:#0E1116;--shiki-dark:#F0F3F6;">();</span></span></code></pre></div><table tabindex="0"><thead><tr><th>Member</th><th>Type</th><th>About</th></tr></thead><tbody><tr><td><code>name</code></td><td><code>&quot;UnsentError&quot;</code></td><td>The name of the class, the same in every copy of the package.</td></tr></tbody></table></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("docs/reference/server/UnsentError.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const UnsentError = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  UnsentError as default
};
