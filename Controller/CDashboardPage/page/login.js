// The login form, shown if the daemon requires a password.

import { faultWords, post, remove } from "./api.js";
import { hear } from "./house.js";
import { phrase } from "./language.js";
import { session } from "./rights.js";

const part = (id) => document.getElementById(id);
const hidden = ["plugs", "power", "energy", "events", "rules"];

function cover(isCovered) {
  part("login").hidden = !isCovered;
  for (const id of hidden) part(id).hidden = isCovered;
  part("logout").hidden = isCovered;
  document.querySelector("nav").hidden = isCovered;
  // The modules of these sections show them again if the user may see them.
  if (isCovered) for (const id of ["sessions", "fleet", "fleet-link"]) part(id).hidden = true;
}

/** Shows the form until the password was accepted. @param {() => void} done */
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
      alert.textContent = faultWords(error);
      password.focus();
      password.select();
    }
    button.disabled = false;
  };
}

/** Adds the logout button, which is visible while a user is logged in. */
export function startLogout() {
  const button = part("logout");
  button.addEventListener("click", async () => {
    try {
      await remove("session");
    } catch (error) {
      // After a failure, the page shows that the user is still logged in.
      button.textContent = phrase("Log out: try again");
      button.title = faultWords(error);
      return;
    }
    location.reload();
  });
  const paint = () => { button.hidden = !(session.passwordNeeded && session.loggedIn); };
  hear("rights", paint);
  paint();
}
