// The password, where the daemon wants one.

import { Fault, post, remove } from "./api.js";
import { hear } from "./house.js";
import { session } from "./rights.js";

const part = (id) => document.getElementById(id);
const hidden = ["plugs", "power", "energy", "events", "rules"];

function cover(isCovered) {
  part("login").hidden = !isCovered;
  for (const id of hidden) part(id).hidden = isCovered;
  part("logout").hidden = isCovered;
  // They show themselves where somebody may see them.
  if (isCovered) for (const id of ["sessions", "fleet", "fleet-link"]) part(id).hidden = true;
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
export function startLogout() {
  const button = part("logout");
  button.addEventListener("click", async () => {
    try {
      await remove("session");
    } catch (error) {
      // Somebody who believes to be logged out must not be wrong.
      button.textContent = "Log out: try again";
      button.title = error instanceof Fault ? error.words : String(error);
      return;
    }
    location.reload();
  });
  const paint = () => { button.hidden = !(session.passwordNeeded && session.loggedIn); };
  hear("rights", paint);
  paint();
}
