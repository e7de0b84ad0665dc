import t from 'tap'
import { createTable, dataOf } from '../helpers.ts'
import { skip, startConsole } from './console.ts'

if (skip) {
  t.pass(`Skipped: ${skip}`, { skip })
} else {
  const { admin, openAsAdmin } = await startConsole(t)

  t.test('times that the service sets are local times, with the exact value on hover', async (t) => {
    const { id } = await createTable(admin, {
      name: 'pets',
      fields: [
        { name: 'id', jsonType: 'integer', isPrimary: true },
        { name: 'amount', jsonType: 'integer' }
      ],
      autoTimestamps: true
    })
    const record = dataOf(await admin.post(`/admin/tables/${id}/data`, { amount: 1_700_000_000_000 }))
    const page = await openAsAdmin(t, `tables/${id}?record=${record.id}`, { locale: 'en-GB', timezoneId: 'Asia/Tokyo' })
    const exact = `${new Date(record.created_at).toISOString()} · ${record.created_at}`
    const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'Asia/Tokyo' } as const
    const local = new Intl.DateTimeFormat('en-GB', options).format(record.created_at)
    for (const place of [page.getByRole('gridcell'), page.getByRole('dialog')]) {
      const time = place.getByTitle(exact).first()
      await time.waitFor()
      t.equal(await time.textContent(), local)
    }
    await page.getByRole('gridcell', { name: '1700000000000' }).waitFor()
  })
}
