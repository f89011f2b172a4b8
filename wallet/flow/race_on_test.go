//go:build race

package flow_test

// underRace says that this is a build with the race detector, which makes a process slow to start. The detector looks
// into one process at a time, so the tests that kill processes take a part of their cases then; the plain build takes
// all.
const underRace = true
