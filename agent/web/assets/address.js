// The view of a plot in the address behind `#`: it is sent to a colleague, kept as a bookmark, and survives a reload.

/** The value that the address names. */
export const named = (name) => new URLSearchParams(location.hash.slice(1)).get(name);

/** Puts a value into the address, beside those of the other plots. */
function keep(name, value) {
  const all = new URLSearchParams(location.hash.slice(1));
  if (value) all.set(name, value);
  else all.delete(name);
  history.replaceState(history.state, '', `#${all}`);
}

/** Takes a field's value from the address, and keeps each change there. */
export function remember(field) {
  const value = named(field.name);
  const fits = !field.options || [...field.options].some((option) => option.value === value);
  if (value !== null && fits) field.value = value;
  field.addEventListener('change', () => keep(field.name, field.value));
}
