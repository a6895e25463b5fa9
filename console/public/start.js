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

// Who is signed in, and what the home screen shows of their workspace: the console takes these answers in place of its first questions,
// and asks again where there is none. A stranger has no session to ask for.
(() => {
  if (['/sign-in', '/setup', '/join', '/forgot-password', '/reset', '/confirm-email'].includes(location.pathname))
    return;
  const ask = (path, headers) =>
    // oxlint-disable-next-line no-restricted-globals -- console/src/api/ is not there yet, and takes this answer up
    fetch(path, { headers: { 'Millrace-Csrf': '1', ...headers } });
  const me = ask('/api/v1/me');
  const early = { '/api/v1/me': me };
  if (location.pathname === '/') {
    early['/api/v1/overview?step=1800'] = me
      .then((answer) => answer.clone().json())
      .then(({ workspaces }) => ask('/api/v1/overview?step=1800', { 'Millrace-Workspace': chooseFrom(workspaces) }));
  }
  for (const answer of Object.values(early)) answer.catch(() => undefined);
  window.millraceEarly = early;

  // As `chosenWorkspace` of console/src/api/session.tsx, which finds this choice then.
  function chooseFrom(workspaces) {
    const last = sessionStorage.getItem('millrace-workspace') ?? localStorage.getItem('millrace-workspace');
    const { id } = workspaces.find((workspace) => workspace.id === last) ?? workspaces[0];
    sessionStorage.setItem('millrace-workspace', id);
    return id;
  }
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
