import t from 'tap'
import { guessDelimiter } from '../../console/src/api/delimiter.ts'
import { parseDelimited } from '../../console/src/records/transfer/delimited.ts'

const cells = (text: string) => parseDelimited(text, '\t')

t.test('cells in quotes keep delimiters, line breaks and quotes', async (t) => {
  t.strictSame(cells('"a\tb"\t"two\r\nlines"\n"say ""hi"""\t""\n'), [
    ['a\tb', 'two\r\nlines'],
    ['say "hi"', '']
  ])
})

t.test('a quote that does not enclose the cell belongs to it', async (t) => {
  t.strictSame(cells('"A" brand\t1\n"open\t2\n5 x\t3'), [
    ['"A" brand', '1'],
    ['"open', '2'],
    ['5 x', '3']
  ])
  t.strictSame(parseDelimited('"A" brand,1\n"B",2', ','), [
    ['"A" brand', '1'],
    ['B', '2']
  ])
})

t.test('the delimiter is the one that is most frequent in the first line', async (t) => {
  t.equal(guessDelimiter('a,b;c;d\n1,2,3,4'), ';')
  t.equal(guessDelimiter('a\tb\r\n1,2,3'), 'tab')
  t.equal(guessDelimiter('a|b'), '|')
  t.equal(guessDelimiter('alone'), ',')
})
