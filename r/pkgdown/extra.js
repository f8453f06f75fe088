// The contents of a page where the script that makes them cannot be fetched.
document.addEventListener("DOMContentLoaded", () => {
  const contents = document.querySelector("#toc");
  if (!contents || contents.querySelector("a") || typeof window.Toc !== "undefined") return;
  const list = document.createElement("ul");
  list.className = "nav flex-column";
  for (const heading of document.querySelectorAll("main h2[id], main .section > h2, main h2")) {
    const id = heading.id || heading.parentElement.id;
    if (!id || contents.contains(heading)) continue;
    const link = document.createElement("a");
    link.className = "nav-link py-1";
    link.href = `#${id}`;
    link.textContent = heading.textContent.trim();
    const item = document.createElement("li");
    item.className = "nav-item";
    item.append(link);
    list.append(item);
  }
  contents.append(list);
});
