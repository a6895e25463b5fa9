// Runs before the first paint, so that a dark console does not flash white. The key is the one that Mantine keeps the choice under.
(() => {
  let choice = 'auto';
  try {
    choice = localStorage.getItem('mantine-color-scheme-value') ?? 'auto';
  } catch {
    // A browser that keeps nothing shows the scheme of the system.
  }
  const isDark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light');
})();
