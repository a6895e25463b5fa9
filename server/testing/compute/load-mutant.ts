/** `node --import` this, with the place of a mutant in its list as the last argument: the module that it changes is loaded changed. */
import { registerHooks } from 'node:module';
import { MUTANTS } from './mutants.ts';

const mutant = MUTANTS[Number(process.argv.at(-1))];
if (mutant === undefined) throw new Error('the last argument is not the place of a mutant');
const { file, find, replace } = mutant;
const url = new URL(`../../src/compute/${file}`, import.meta.url).href;

registerHooks({
  load(loaded, context, nextLoad) {
    const result = nextLoad(loaded, context);
    if (loaded !== url || result.source === undefined) return result;
    const source = typeof result.source === 'string' ? result.source : new TextDecoder().decode(result.source);
    return { ...result, source: source.replace(find, () => replace) };
  },
});
