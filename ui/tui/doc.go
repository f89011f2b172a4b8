// Package tui is the terminal program: the shell around the screens. It draws the first line (product, network badge,
// profile, account, total, age of the data), the tabs, the body of the active screen and the keys that work; it routes
// messages, shows help, palette and toasts, and copies to the terminal's clipboard (OSC 52).
//
// Configured keys stay in the shell: a screen sees and lists its own keys only; the shell shows and accepts the
// configured ones. The mouse presses what the keyboard could press, except keys that sign or confirm, and tells the
// screen where its body was clicked.
//
// Promise: Update reads and writes nothing. The screen changes only after a key, an answer, or at the moments that the
// shown ages and countdowns name, so an idle program sends no bytes. Before the program stops, on SIGTSTP or ctrl+z, it
// locks the keys, wipes a passphrase that is being typed, and gives the terminal back (TH-K6); continued, it draws
// itself anew. It restores the terminal when it ends. Environment variables that make the terminal library write
// keystrokes or stacks to files have no effect. Below 60×20 cells the program says what size it needs.
package tui
