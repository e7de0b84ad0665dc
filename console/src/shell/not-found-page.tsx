import { texts } from '../texts/common.ts'
import { LinkButton } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'

export const NotFoundPage = () => (
  <Page title={texts.notFound}>
    <LinkButton href="/">{texts.home}</LinkButton>
  </Page>
)
