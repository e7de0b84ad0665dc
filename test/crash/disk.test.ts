import t from 'tap'
import { type Change, type Files, readJournal, survivors } from './disk.ts'

const change = (kind: Change['kind'], name: string, position = 0, data: Buffer | string = ''): Change => ({
  kind,
  name,
  position,
  data: Buffer.from(data)
})

const write = (position: number, data: Buffer | string) => change('W', 'file', position, data)
const sync = change('S', 'file')
const syncDirectory = change('S', '.')

const BEFORE: Files = new Map([['file', Buffer.from('before')]])

/** Constant random numbers: below a third a change is dropped, below two thirds it is kept, above that it is torn. */
const DROP = () => 0
const KEEP = () => 0.4
const TEAR = () => 0.9

const names = (files: Files) => [...files.keys()].sort()
const text = (files: Files) => String(files.get('file'))

t.test('a journal is parsed correctly, whatever bytes the writes contain', async (t) => {
  const journal = Buffer.from('C file 0 0\nW file 7 3\n\n \nT file 5 0\nR file 0 3\nnew')
  t.strictSame(
    [...readJournal(journal)],
    [change('C', 'file'), write(7, '\n \n'), change('T', 'file', 5), change('R', 'file', 0, 'new')]
  )
})

t.test('synced changes are on the disk', async (t) => {
  t.equal(text(survivors(BEFORE, [write(2, 'xx'), change('T', 'file', 5), sync], DROP)), 'bexxr')
  t.equal(text(survivors(BEFORE, [write(8, 'x'), sync], DROP)), 'before\0\0x')
})

t.test('each write that was not synced is dropped or kept independently', async (t) => {
  t.equal(text(survivors(BEFORE, [write(0, 'x'), sync, write(1, 'y')], DROP)), 'xefore')
  t.equal(text(survivors(BEFORE, [write(0, 'x'), sync, write(1, 'y')], KEEP)), 'xyfore')
  const fates = [0, 0, 0.4]
  const files = survivors(BEFORE, [write(0, 'x'), write(1, 'y')], () => fates.shift() ?? 0)
  t.equal(text(files), 'byfore', 'the later write is kept and the earlier one is dropped')
})

t.test('a torn write consists of whole sectors, aligned to the beginning of the file', async (t) => {
  const fates = [0, 0.9, 0, 0.9, 0]
  const files = survivors(BEFORE, [write(500, Buffer.alloc(1036, 'x'))], () => fates.shift() ?? 0)
  const file = files.get('file') as Buffer
  t.equal(file.length, 1536)
  t.strictSame([file[499], file[511], file[512], file[1023], file[1024], file[1535]], [0, 120, 0, 0, 120, 120])
  t.equal(text(survivors(BEFORE, [write(0, 'x'), change('T', 'file', 2)], TEAR)), 'before')
})

t.test('changes of names are stored in order, and all of them when the directory is synced', async (t) => {
  const created = [change('C', 'new'), change('W', 'new', 0, 'data'), change('S', 'new')]
  t.strictSame(names(survivors(BEFORE, created, DROP)), ['file'], 'a synced file without a stored name is lost')
  t.strictSame(names(survivors(BEFORE, [...created, syncDirectory], DROP)), ['file', 'new'])
  t.strictSame(names(survivors(BEFORE, [change('U', 'file')], DROP)), ['file'])
  t.strictSame(names(survivors(BEFORE, [change('U', 'file'), syncDirectory], DROP)), [])
  const renamed = [...created, change('R', 'new', 0, 'file'), syncDirectory]
  t.strictSame([...survivors(BEFORE, renamed, DROP)], [['file', Buffer.from('data')]])
  t.strictSame(names(survivors(BEFORE, [change('C', 'a'), change('C', 'b')], () => 0.5)), ['a', 'file'])
})

t.test('a file that is created again under the same name is a new file', async (t) => {
  const recreated = [change('U', 'file'), change('C', 'file'), write(0, 'x'), sync]
  t.equal(text(survivors(BEFORE, recreated, DROP)), 'before')
  t.equal(text(survivors(BEFORE, [...recreated, syncDirectory], DROP)), 'x')
})

t.test('shared memory is not on the disk', async (t) => {
  const shared = [change('C', 'file-shm'), change('W', 'file-shm', 0, 'x'), change('S', 'file-shm'), syncDirectory]
  t.strictSame(names(survivors(BEFORE, shared, KEEP)), ['file'])
})
