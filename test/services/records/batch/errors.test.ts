import t from 'tap'
import { DomainError } from '../../../../services/model/errors.ts'
import { atOperation, inValues } from '../../../../services/records/batch/errors.ts'

t.test('an error without a code is not changed', async (t) => {
  const failure = new Error('unexpected')
  t.equal(inValues(failure), failure)
  t.equal(atOperation(failure, 3), failure)
})

t.test('the first detail names the operation', async (t) => {
  const details = [{ path: '/name', code: 'type', message: 'wrong' }]
  const error = atOperation(inValues(new DomainError('VALIDATION_FAILED', 'wrong', { details })), 3) as DomainError
  t.strictSame(
    error.details?.map(({ path }) => path),
    ['/operations/3', '/operations/3/values/name']
  )
  t.equal(error.message, 'Operation 3: wrong')
})
