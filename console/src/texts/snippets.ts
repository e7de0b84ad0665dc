export const texts = {
  language: 'Language of the examples',
  languages: { curl: 'curl', typescript: 'TypeScript', python: 'Python', go: 'Go' }
}
