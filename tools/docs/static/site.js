"use strict";
// An address of something inside a closed part opens the part; the filter of a page of vectors hides what does not match.

const openTarget = () => {
  const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return;
  for (let one = place; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  place.scrollIntoView();
};

const filter = (field) => {
  const output = field.closest("p").querySelector("output");
  const parts = [...document.querySelectorAll(`#${field.dataset.filter} > details`)];
  const texts = parts.map((one) => one.textContent.toLowerCase());
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    parts.forEach((one, at) => {
      one.hidden = !words.every((word) => texts[at].includes(word));
      shown += !one.hidden;
    });
    output.textContent = words.length ? `${shown} of ${parts.length}` : "";
  };
  field.addEventListener("input", apply);
};

window.addEventListener("hashchange", openTarget);
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[data-filter]").forEach(filter);
  openTarget();
});
