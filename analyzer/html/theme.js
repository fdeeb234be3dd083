// Light or dark: as the system says, until the reader chooses.
const themeListeners = [];

function systemTheme() {
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = byId('theme');
  button.textContent = theme === 'dark' ? 'Light' : 'Dark';
  button.setAttribute('aria-label', `Use ${button.textContent.toLowerCase()} colours`);
  button.setAttribute('aria-pressed', theme === 'dark' ? 'true' : 'false');
  for (const listener of themeListeners) listener();
}
function startTheme() {
  let chosen = false;
  setTheme(systemTheme());
  byId('theme').addEventListener('click', () => {
    chosen = true;
    setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => chosen || setTheme(systemTheme()));
  let before = null;  // paper is white
  addEventListener('beforeprint', () => { before = document.documentElement.dataset.theme; setTheme('light'); });
  addEventListener('afterprint', () => before && setTheme(before));
}
