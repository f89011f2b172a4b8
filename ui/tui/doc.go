// Package tui is the terminal program: the shell around the screens. It draws the first line (product, network badge, profile, account,
// total, age of the data), the tabs, the body of the active screen and the keys that work; it routes messages, shows help, palette and
// toasts, and copies to the terminal's clipboard (OSC 52).
//
// What the person chose about keys stays here: a screen sees its own keys only, and lists them; the shell shows and takes those of the configuration. The mouse presses
// what the keyboard could press, except for what signs or confirms, and tells the screen where its body was clicked.
//
// Promise: nothing is read or written in Update; the screen changes only after a key, an answer, or at the moments that the shown ages and
// countdowns name, so an idle program sends no bytes. Before the program stops, on SIGTSTP or ctrl+z, the keys are locked, what was typed of a passphrase is
// wiped, and the terminal is given back (TH-K6); continued, it draws itself anew. The terminal is restored when the program ends. Environment variables that make the
// terminal library write keystrokes or stacks to files have no effect. Below 60×20 cells the program says what it needs.
package tui
