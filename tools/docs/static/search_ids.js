"use strict";
// A search for an id goes to its place; a part of ids is answered with the first of those that have it.

// The code of a requirement or an open point, whose address is in lower case.
const CODE = /^([a-z]{3}\d{3}|[a-z]\d+)$/;

document.addEventListener("DOMContentLoaded", () => {
  const asked = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase();
  if (!asked) return;
  const found = [];
  for (const [key, ids] of Object.entries(window.SITE_IDS)) {
    for (const id of ids) {
      const small = id.toLowerCase();
      if (small === asked) {
        location.replace(key + id);
        return;
      }
      if (asked.length > 2 && small.includes(asked) && found.length < 40) found.push([id, key + id]);
    }
  }
  if (!found.length) return;
  const list = document.createElement("div");
  list.id = "ids";
  const heading = document.createElement("h2");
  heading.textContent = found.length === 40 ? "The first 40 ids" : "Ids";
  list.append(heading);
  for (const [id, address] of found) {
    const link = document.createElement("a");
    link.href = address;
    link.textContent = CODE.test(id) ? id.toUpperCase() : id;
    list.append(link);
  }
  document.getElementById("search-results").before(list);
});
