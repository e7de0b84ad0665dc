import { brotliCompressSync, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** The service that `npm run dev` sends requests to. */
const SERVICE = 'http://127.0.0.1:3000'

/** Writes each asset also as `.br` and `.gz`, which the service sends to browsers that accept them. */
const precompress = (): Plugin => ({
  name: 'precompress',
  generateBundle: {
    // After Vite has written the style sheets of pages that are loaded later into the code.
    order: 'post',
    handler(_options, bundle) {
      for (const output of Object.values(bundle)) {
        if (!/\.(?:js|css|svg)$/.test(output.fileName)) continue
        const content = Buffer.from(output.type === 'chunk' ? output.code : output.source)
        this.emitFile({ type: 'asset', fileName: `${output.fileName}.br`, source: brotliCompressSync(content) })
        this.emitFile({ type: 'asset', fileName: `${output.fileName}.gz`, source: gzipSync(content) })
      }
    }
  }
})

export default defineConfig({
  // Relative: a proxy may serve Rowhouse below a prefix. The service sets the base of each page.
  base: './',
  // Tools of the service bring an older React, which npm may place above the packages that use this one.
  resolve: { dedupe: ['react', 'react-dom'] },
  plugins: [react(), precompress()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // For the licenses in the package: scripts/pack.ts.
    license: { fileName: 'licenses.json' },
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false }
  },
  server: { proxy: { '/admin': SERVICE, '/auth': SERVICE, '/data': SERVICE } }
})
