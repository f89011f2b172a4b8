// Package tui is the terminal program: the shell around the screens. It draws the first line (product, network badge, profile, account,
// total, age of the data), the tabs, the body of the active screen and the keys that work; it routes messages, shows help, palette and
// toasts, and copies to the terminal's clipboard (OSC 52).
//
// Promise: nothing is read or written in Update; the screen changes only after a key, an answer, or at the moments that the shown ages and
// countdowns name, so an idle program sends no bytes. Before the program stops, on SIGTSTP or ctrl+z, the keys are locked, what was typed of a passphrase is
// wiped, and the terminal is given back (TH-K6); continued, it draws itself anew. The terminal is restored when the program ends. Environment variables that make the
// terminal library write keystrokes or stacks to files have no effect. Below 60×20 cells the program says what it needs.
package tui
