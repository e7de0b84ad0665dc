export const texts = {
  title: 'Log in to Rowhouse',
  name: 'Name',
  password: 'Password',
  logIn: 'Log in',
  firstStart: 'The first start of the service prints the name and the password of the first administrator.',
  ended: 'Your session has ended',
  endedHint: 'Enter your password to go on. Nothing that you entered is lost.',
  leave: 'Log in as somebody else',
  switched: (name: string) => `“${name}” is logged in now`,
  switchedHint: (from: string, to: string) =>
    `“${to}” has logged in, in another tab of this browser. Go on as “${to}”, or enter the password of “${from}”. Nothing that you entered is lost.`,
  goOnAs: (name: string) => `Go on as “${name}”`,
  changeTitle: 'Choose a new password',
  changeHint:
    'Your present password was printed by the service, or chosen by another administrator. Choose one that only you know.',
  oldPassword: 'Present password',
  newPassword: 'New password',
  newPasswordHint: 'At least 8 characters.',
  change: 'Change the password',
  later: 'Later',
  notLoggedOut: 'You are still logged in',
  changed: 'The password is changed. All your other sessions have ended.'
}
