"use strict";
// What can be opened has an id, which is also its place in the URL: page.html#tiles/06 opens that rung.
const opened = [...document.querySelectorAll("details[id]")];

function place() {
  const written = location.hash.slice(1);
  try { return decodeURIComponent(written); } catch { return written; }
}

function follow() {
  const wanted = place();
  const found = opened.find(each => each.id === wanted || each.dataset.name === wanted);
  if (!found) return;
  found.open = true;
  found.scrollIntoView({ block: "start" });
}

for (const each of opened) each.addEventListener("toggle", () => {
  if (each.open) history.replaceState(null, "", "#" + each.id);
  else if (place() === each.id) history.replaceState(null, "", "#");
});
addEventListener("hashchange", follow);
follow();
