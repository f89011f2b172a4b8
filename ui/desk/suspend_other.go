//go:build !unix

package desk

// lockOnSuspend has nothing to do: this system does not suspend programs.
func lockOnSuspend(_, _ func()) (end func()) { return func() {} }

func stopProcess() {}
