// The password, where the daemon wants one.

import { Fault, get, post, remove } from "./api.js";

const part = (id) => document.getElementById(id);
const hidden = ["plugs", "power", "energy", "events", "rules"];

function cover(isCovered) {
  part("login").hidden = !isCovered;
  for (const id of hidden) part(id).hidden = isCovered;
  part("logout").hidden = isCovered;
}

/** Until the password was right. @param {() => void} done */
export function show(done) {
  if (!part("login").hidden) return;
  cover(true);
  const [form, password, alert] = [part("login-form"), part("password"), part("login-alert")];
  const button = form.querySelector("button");
  password.focus();
  form.onsubmit = async (event) => {
    event.preventDefault();
    alert.textContent = "";
    button.disabled = true;
    try {
      await post("session", { password: password.value });
      password.value = "";
      cover(false);
      part("plugs").focus();
      done();
    } catch (error) {
      alert.textContent = error instanceof Fault ? error.words : String(error);
      password.select();
    }
    button.disabled = false;
  };
}

/** The button to log out, where there is somebody to log out. */
export async function startLogout() {
  const button = part("logout");
  button.addEventListener("click", async () => {
    try { await remove("session"); } catch { /* What is left of it ends with the cookie. */ }
    location.reload();
  });
  try {
    const { passwordNeeded, loggedIn } = await get("session");
    button.hidden = !(passwordNeeded && loggedIn);
  } catch { /* Then there is none. */ }
}
