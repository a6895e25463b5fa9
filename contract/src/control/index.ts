export * from './access.ts';
export * from './catalog.ts';
export * from './destinations.ts';
export * from './page.ts';
export * from './sources.ts';
