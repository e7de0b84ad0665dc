const target = (client, file) => ({
  input: 'openapi.json',
  output: { target: file, client, mode: 'single', baseUrl: { runtime: 'process.env.ROWHOUSE_URL' } }
})

export default { fetch: target('fetch', 'client.ts'), zod: target('zod', 'schemas.ts') }
