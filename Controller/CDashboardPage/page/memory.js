// Settings in localStorage. If the browser does not allow it, they are not stored.

export const memory = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { if (value === null) localStorage.removeItem(key); else localStorage.setItem(key, value); } catch { /* A private window allows no storage. */ } },
};
