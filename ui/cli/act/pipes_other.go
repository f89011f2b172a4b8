//go:build !unix

package act

// keepGoing does nothing: here writing to a closed pipe is always an error.
func keepGoing() (end func()) { return func() {} }
