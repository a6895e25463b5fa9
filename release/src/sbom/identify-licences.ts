/** Go modules name no licence, they only carry its text. A sentence of each licence that no other has tells them apart. */
const SENTENCES: Readonly<Record<string, RegExp>> = {
  'Apache-2.0': /Apache License\s+Version 2\.0, January 2004/,
  MIT: /Permission is hereby granted, free of charge, to any person obtaining a copy/,
  'BSD-3-Clause': /Redistribution and use in source and binary forms[^]+?(Neither the name|The names? of)/,
  'BSD-2-Clause': /Redistribution and use in source and binary forms(?![^]+(Neither the name|The names? of))/,
  ISC: /Permission to use, copy, modify, and\/or distribute this software for any\s+purpose with or without fee/,
  'MPL-2.0': /Mozilla Public License,? Version 2\.0/i,
  'GPL-3.0-only': /GNU GENERAL PUBLIC LICENSE\s+Version 3/,
  'GPL-2.0-only': /GNU GENERAL PUBLIC LICENSE\s+Version 2/,
  'AGPL-3.0-only': /GNU AFFERO GENERAL PUBLIC LICENSE/,
  'SSPL-1.0': /Server Side Public License/,
  'BUSL-1.1': /Business Source License 1\.1/,
};

/** The SPDX names of all licences in the text. */
export function identifyLicences(text: string): string[] {
  return Object.keys(SENTENCES).filter((name) => SENTENCES[name]?.test(text));
}
