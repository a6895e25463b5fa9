// Runs before the first paint and before the scripts of the console are there.

// A dark console must not flash white. The key is the one that Mantine keeps the choice under.
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

// Who is signed in: the console asks for this answer first, and takes this one. A stranger has no session to ask for.
(() => {
  if (['/sign-in', '/setup', '/join'].includes(location.pathname)) return;
  // oxlint-disable-next-line no-restricted-globals -- console/src/api/ is not there yet, and takes this answer up
  window.millraceMe = fetch('/api/v1/me', { headers: { 'Millrace-Csrf': '1' } });
  // The console asks again and tells people why, when the server does not answer.
  window.millraceMe.catch(() => undefined);
})();

// The browser loads the home screen beside the console itself; any other screen is loaded when the console knows its route.
(() => {
  if (location.pathname !== '/') return;
  for (const file of (document.currentScript?.dataset.home ?? '').split(' ').filter(Boolean)) {
    const link = document.createElement('link');
    const isStyle = file.endsWith('.css');
    link.rel = isStyle ? 'preload' : 'modulepreload';
    if (isStyle) link.as = 'style';
    // As the console itself asks for them, or the browser would load each of them twice.
    link.crossOrigin = '';
    link.href = file;
    document.head.append(link);
  }
})();
