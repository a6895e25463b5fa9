import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The address of a running control role, for `npm run dev -w console`. */
const CONTROL_URL = 'http://localhost:8081';

/** Writes each file once more, compressed: the server sends those as they are. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle({ dir = '' }) {
      const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
      for (const name of names.filter((name) => /\.(js|css|svg)$/.test(name))) {
        const content = readFileSync(join(dir, name));
        writeFileSync(join(dir, `${name}.gz`), gzipSync(content, { level: 9 }));
        writeFileSync(
          join(dir, `${name}.br`),
          brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
        );
      }
    },
  };
}

/** Writes the modules that have code in the bundle to `.vite/modules.json`, for the licences and the SBOM of a release. */
function modulesListed(): Plugin {
  return {
    name: 'modules-listed',
    apply: 'build',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const modules = new Set(chunks.flatMap(({ moduleIds }) => moduleIds));
      const files = [...modules].filter(isAbsolute).map((file) => relative(join(import.meta.dirname, '..'), file));
      this.emitFile({
        type: 'asset',
        fileName: '.vite/modules.json',
        source: JSON.stringify(files.toSorted(), null, 1),
      });
    },
  };
}

/** Tells start.js which files the home screen has, beside those that index.html names itself. */
function homeFiles(): Plugin {
  return {
    name: 'home-files',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
        const home = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith('/screens/home/home.tsx'));
        if (home === undefined) throw new Error('the home screen has no file of its own');
        const needed = new Set([home]);
        for (const { imports } of needed) {
          for (const chunk of chunks) if (imports.includes(chunk.fileName)) needed.add(chunk);
        }
        const files = [...needed].flatMap((chunk) => [chunk.fileName, ...(chunk.viteMetadata?.importedCss ?? [])]);
        const more = [...new Set(files)].filter((file) => !html.includes(file)).map((file) => `/${file}`);
        return html.replace('src="/start.js"', `src="/start.js" data-home="${more.join(' ')}"`);
      },
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), homeFiles(), compressed(), modulesListed()],
  build: {
    target: 'es2023',
    // The CSP allows files of our own origin only, so nothing becomes a data: URL or an inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Which file belongs to which screen, for the check of sizes.
    manifest: true,
    chunkSizeWarningLimit: 800,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { proxy: { '/api': CONTROL_URL } },
  preview: { proxy: { '/api': CONTROL_URL } },
});
