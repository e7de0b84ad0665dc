const KEY = 'rowhouse.password-later'

/** Whether this administrator changes the first password later: asked once for each login. */
export const isPasswordLater = (id: number) => sessionStorage.getItem(KEY) === String(id)

export const changePasswordLater = (id: number) => sessionStorage.setItem(KEY, String(id))

export const forgetPasswordLater = () => sessionStorage.removeItem(KEY)
