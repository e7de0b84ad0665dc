// npm runs this before `npm run pack`, and also before `npm pack` and `npm publish`, which are refused: they would take
// package.json as it is, with all packages that the bundle already contains.
if (!process.env.npm_command?.startsWith('run')) {
  process.stderr.write('Run `npm run pack`: it makes the package with the dependencies of the bundle only.\n')
  process.exitCode = 1
}
