//go:build !goexperiment.runtimesecret

package guard

// Erases reports whether this build erases what Do leaves behind.
const Erases = false

// Do calls f.
func Do(f func()) { f() }
