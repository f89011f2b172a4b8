//go:build !unix

package app

// lockOnSuspend does nothing: this system does not suspend programs.
func lockOnSuspend(_, _ func()) (end func()) { return func() {} }

func stopProcess() {}
