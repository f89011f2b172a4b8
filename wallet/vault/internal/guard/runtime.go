//go:build goexperiment.runtimesecret

package guard

import "runtime/secret"

// Erases reports whether this build erases what Do leaves behind.
const Erases = true

// Do calls f and erases what it leaves behind.
func Do(f func()) { secret.Do(f) }
