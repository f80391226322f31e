(() => {
  "use strict";
  const said = JSON.parse(document.getElementById("charts").textContent);
  const place = document.getElementById(`chart-${said.name}`);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let drawn = "";

  const exchanged = part => {
    if (Array.isArray(part)) return part.map(exchanged);
    if (part && typeof part === "object")
      return Object.fromEntries(
        Object.entries(part).map(([key, value]) => [key, key === "datasets" || key === "data" ? value : exchanged(value)]));
    return typeof part === "string" && Object.hasOwn(said.dark, part) ? said.dark[part] : part;
  };

  const draw = async () => {
    const size = place.clientWidth < 700 ? "narrow" : "wide";
    const wanted = `${size} ${dark.matches}`;
    if (wanted === drawn) return;
    drawn = wanted;
    let spec = structuredClone(said[size]);
    const letters = dark.matches ? "#FAFAFA" : "#222222";
    if (dark.matches) spec = exchanged(spec);
    spec.config = { ...spec.config, background: "transparent", text: { color: letters, ...(spec.config || {}).text } };
    for (const part of ["axis", "legend", "title"])
      spec.config[part] = { ...(spec.config[part] || {}), labelColor: letters, titleColor: letters, color: letters };
    await vegaEmbed(place, spec, { ast: true, actions: false, renderer: "svg", logLevel: 1 });
    place.classList.add("drawn");
  };

  draw();
  dark.addEventListener("change", draw);
  window.addEventListener("resize", draw);
})();
