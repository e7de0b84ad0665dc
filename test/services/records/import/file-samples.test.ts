import t from 'tap'
import { readSample } from '../../../../services/records/import/file-samples.ts'

async function* chunksOf(text: string) {
  yield Buffer.from(text)
}

t.test('the header of a sampled file follows empty lines', async (t) => {
  const format = { type: 'csv', delimiter: ',', unescapesFormulas: false } as const
  const { sample } = await readSample(format, chunksOf('\n\nname\nTom\n'))
  t.strictSame(sample.names, ['name'])
  t.strictSame(sample.records, [new Map([['name', { type: 'string', text: 'Tom' }]])])
})
