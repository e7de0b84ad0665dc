import { texts } from '../texts/admins.ts'
import { texts as common } from '../texts/common.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ProfileForm } from './profile-form.tsx'
import type { Admin } from './queries.ts'

export const EditAdminDialog = ({ admin, onClose }: { readonly admin: Admin; readonly onClose: () => void }) => (
  <Dialog title={texts.editTitle(admin.name)} onClose={onClose}>
    <ProfileForm admin={admin} onSaved={onClose}>
      <Button onClick={onClose}>{common.cancel}</Button>
    </ProfileForm>
  </Dialog>
)
