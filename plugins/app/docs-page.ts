import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui'

/** The page may load scripts and styles from Rowhouse and send requests to it, nothing else. Tested in Chromium. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

const STYLE = `
:root { color-scheme: light; }
body { margin: 0; background: #fff; }
.swagger-ui { font-family: system-ui, sans-serif; color: #1f2933; }
.swagger-ui .wrapper { max-width: 64rem; }
.swagger-ui .info { margin: 2rem 0 1rem; }
.swagger-ui .info .title { font-family: inherit; font-weight: 600; }
.swagger-ui .info .title small { background: #52606d; }
.swagger-ui .scheme-container { background: none; box-shadow: none; padding: 0; }
.swagger-ui .opblock { box-shadow: none; border-radius: 3px; }
.swagger-ui .opblock-tag { font-family: inherit; border-color: #e4e7eb; }
.swagger-ui .table-container table:not([class]) td:last-child { overflow-wrap: anywhere; }
.token { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; max-width: 64rem; margin: 0 auto;
  padding: 1rem 20px 0; box-sizing: border-box; font: 14px system-ui, sans-serif; color: #1f2933; }
.token input { flex: 1 1 16rem; padding: .4rem .5rem; font: inherit; border: 1px solid #9aa5b1; border-radius: 3px;
  -webkit-text-security: disc; }
.token button { padding: .4rem .75rem; font: inherit; color: #fff; background: #334e68; border: 0; border-radius: 3px;
  cursor: pointer; }
.token button[type=button] { color: #334e68; background: #e4e7eb; }
.token output { flex-basis: 100%; min-height: 1.2em; }
`

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#334e68" d="M1 15V6l3-4 3 4v9zm8 0V6l3-4 3 4v9z"/></svg>`

/**
 * Adds a field for a token, and shows the document of the token. The token is stored nowhere: only Swagger UI keeps it,
 * in memory, for "Try it out". `type="text"` and `autocomplete="off"` keep it from password managers and form history.
 * It runs in the browser after the script that sets `window.onload`, which creates the page.
 */
const SCRIPT = `
'use strict'
{
  const base = new URL('../../../', document.currentScript.src)
  const createPage = window.SwaggerUIBundle
  let page
  window.SwaggerUIBundle = Object.assign((options) => (page = createPage(options)), createPage)

  const form = document.createElement('form')
  form.className = 'token'
  form.innerHTML = \`
    <label for="token">Token</label>
    <input id="token" type="text" autocomplete="off" autocapitalize="off" spellcheck="false" required
      placeholder="rh_… shows the tables, fields and actions of this token">
    <button type="submit">Show its document</button>
    <button type="button">Show all calls</button>
    <output></output>\`
  document.getElementById('swagger-ui').before(form)
  const input = form.querySelector('input')
  const output = form.querySelector('output')

  const readDocument = async (path, headers) => {
    const response = await fetch(new URL(path, base), { headers, cache: 'no-store' })
    const body = await response.json()
    if (response.ok) return body
    throw new Error(body.error.message)
  }

  let latest = 0
  const show = async (path, headers, onShown) => {
    const number = ++latest
    output.textContent = 'Loading …'
    try {
      const shown = await readDocument(path, headers)
      if (number !== latest) return
      // Below the title, as a link. A link cannot send a token.
      page.specActions.updateUrl(headers.authorization ? '' : new URL(path, base).href)
      page.specActions.updateSpec(JSON.stringify(shown))
      page.authActions.logout(['token'])
      onShown()
    } catch (error) {
      if (number === latest) output.textContent = 'The document cannot be shown. ' + error.message
    }
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const token = input.value.trim()
    show('data/_openapi.json', { authorization: 'Bearer ' + token }, () => {
      page.preauthorizeApiKey('token', token)
      input.value = ''
      output.textContent = 'The document of one token. Calls from this page use it. Reload the page to remove it.'
    })
  })
  form.querySelector('button[type=button]').addEventListener('click', () => {
    show('openapi.json', {}, () => { output.textContent = '' })
  })
}
`

/** The page /docs: Swagger UI without inline code, and with a field for a token. */
export const docsPage: FastifySwaggerUiOptions = {
  routePrefix: '/docs',
  staticCSP: PAGE_POLICY,
  uiConfig: {
    layout: 'BaseLayout',
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    deepLinking: true,
    // Shows `x-error-codes`.
    showExtensions: true
  },
  theme: {
    title: 'Rowhouse API',
    css: [{ filename: 'rowhouse.css', content: STYLE }],
    js: [{ filename: 'token.js', content: SCRIPT }],
    favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: ICON }]
  }
}
