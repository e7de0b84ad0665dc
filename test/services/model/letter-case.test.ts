import t from 'tap'
import { foldText } from '../../../services/model/letter-case.ts'

t.test('a letter folds if it has one lower and one upper form', async (t) => {
  t.strictSame(foldText('MÉxico ÉÑ', 9), {
    text: 'méxico éñ',
    letters: [
      { upper: 'É', lower: 'é' },
      { upper: 'Ñ', lower: 'ñ' }
    ],
    plainPart: 'xico '
  })
  for (const [text, folded] of Object.entries({ МОСКВА: 'москва', ΣΟΦΌΣ: 'σοφόσ', '\u{10400}': '\u{10428}', Ǆ: 'ǆ' }))
    t.equal(foldText(text, 9).text, folded)
  for (const text of ['ß', 'ẞ', 'İ', 'ı', 'ς', 'ſ', '\u212a', '\u01c5', '\u00b5', '猫', '\u0301', '1%_'])
    t.strictSame(foldText(text, 9), { text, letters: [], plainPart: text }, text)
})

t.test('the number of letters is limited', async (t) => {
  t.match(foldText('ÄÖÄ', 1), { text: 'äÖä', letters: [{ lower: 'ä' }] })
})
