const KEY = 'rowhouse.password-later'

/** Whether this administrator has chosen, since the login, to change the first password later. */
export const isPasswordLater = (id: number) => sessionStorage.getItem(KEY) === String(id)

export const changePasswordLater = (id: number) => sessionStorage.setItem(KEY, String(id))

export const forgetPasswordLater = () => sessionStorage.removeItem(KEY)
